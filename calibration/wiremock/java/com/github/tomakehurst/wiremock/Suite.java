package com.github.tomakehurst.wiremock;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.PrintStream;
import java.util.Arrays;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** Runs the classes of its arguments, and says of each test in a line of its standard output what became of it. */
public class Suite {
  public static void main(String[] classes) {
    PrintStream out = System.out;
    System.setOut(System.err);
    LauncherDiscoveryRequest request =
        LauncherDiscoveryRequestBuilder.request()
            .selectors(
                Arrays.stream(classes)
                    .map(name -> selectClass("com.github.tomakehurst.wiremock." + name))
                    .toList())
            .configurationParameter("junit.jupiter.execution.timeout.testable.method.default", "60s")
            .build();
    LauncherFactory.create().execute(request, new Lines(out));
    out.println("end");
    System.exit(0);
  }

  /** `passed`, `failed` or `skipped`, the class, the test, and why, between tabulators. */
  private record Lines(PrintStream out) implements TestExecutionListener {
    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
      if (test.isTest()) {
        switch (result.getStatus()) {
          case SUCCESSFUL -> say("passed", test, "");
          case ABORTED -> say("skipped", test, result.getThrowable().map(Object::toString).orElse(""));
          case FAILED -> say("failed", test, result.getThrowable().map(Object::toString).orElse(""));
        }
      }
    }

    @Override
    public void executionSkipped(TestIdentifier test, String reason) {
      if (test.isTest()) say("skipped", test, reason);
    }

    private void say(String outcome, TestIdentifier test, String why) {
      MethodSource source = (MethodSource) test.getSource().get();
      String type = source.getClassName().replaceFirst("^com\\.github\\.tomakehurst\\.wiremock\\.", "");
      String name = source.getMethodName();
      if (!test.getDisplayName().startsWith(name)) name += " " + test.getDisplayName();
      String line = String.join("\t", outcome, type, name.replaceAll("\\s+", " "), why.replaceAll("\\s+", " "));
      synchronized (out) {
        out.println(line);
        out.flush();
      }
    }
  }
}
