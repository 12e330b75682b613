package com.github.tomakehurst.wiremock.standalone;

import com.github.tomakehurst.wiremock.Child;
import java.util.ArrayList;
import java.util.List;

/** Stands in the place of the class of this name: a command line of WireMock's starts a process. */
public class WireMockServerRunner {
  private Child child;

  public void run(String... arguments) {
    List<String> line = new ArrayList<>(List.of(arguments));
    if (!Child.JAR && !line.contains("--allow-proxy-targets")) {
      line.addAll(List.of("--allow-proxy-targets", "*"));
    }
    child = new Child(line, !line.contains("--disable-http"), line.contains("--https-port"));
    System.out.println(child.output);
  }

  public void stop() {
    if (child != null) child.kill();
  }

  public boolean isRunning() {
    return child != null && child.isAlive();
  }

  public int port() {
    return child.http;
  }
}
