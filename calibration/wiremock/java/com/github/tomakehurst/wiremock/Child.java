package com.github.tomakehurst.wiremock;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A server in a process of its own: our executable, of `-Dplimsoll=…`, or the real one. */
public class Child {
  /** The real server's jar, with `-Djar=…`: then it is started in the place of our executable, as a control. */
  private static final String JAR_FILE = System.getProperty("jar");
  public static final boolean JAR = JAR_FILE != null;
  static final Set<Process> LIVE = ConcurrentHashMap.newKeySet();

  static {
    Runtime.getRuntime()
        .addShutdownHook(new Thread(() -> LIVE.forEach(Process::destroyForcibly)));
  }

  private final List<String> command = new ArrayList<>();
  public final StringBuffer output = new StringBuffer();
  private final Process process;
  public volatile int http = -1, https = -1;
  private final Thread reader;

  public Child(List<String> args, boolean wantHttp, boolean wantHttps) {
    if (JAR) {
      command.addAll(
          List.of(
              "java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Duser.timezone=Australia/Sydney",
              "--add-exports=java.base/sun.security.x509=ALL-UNNAMED", "-jar", JAR_FILE, "--disable-banner"));
    } else {
      command.addAll(List.of(System.getProperty("plimsoll", "plimsoll"), "mock"));
    }
    command.addAll(args);
    try {
      ProcessBuilder pb = new ProcessBuilder(command).redirectErrorStream(true);
      pb.environment().put("TZ", "Australia/Sydney");
      process = pb.start();
    } catch (IOException e) {
      throw new RuntimeException(e);
    }
    LIVE.add(process);
    CountDownLatch up = new CountDownLatch(1);
    reader =
        new Thread(
            () -> {
              Pattern p =
                  JAR
                      ? Pattern.compile("^(port|https-port): +(\\d+)")
                      : Pattern.compile("listening on (http|https)://[^ ]*:(\\d+)");
              try (BufferedReader r =
                  new BufferedReader(
                      new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
                for (String l; (l = r.readLine()) != null; ) {
                  output.append(l).append('\n');
                  Matcher m = p.matcher(l);
                  if (m.find()) {
                    int n = Integer.parseInt(m.group(2));
                    if (m.group(1).startsWith("https")) https = n;
                    else http = n;
                    if ((!wantHttp || http > 0) && (!wantHttps || https > 0)) up.countDown();
                  }
                }
              } catch (IOException ignored) {
              }
              up.countDown();
            });
    reader.setDaemon(true);
    reader.start();
    try {
      if (!up.await(40, TimeUnit.SECONDS)) {
        kill();
        throw new RuntimeException("no port printed by " + command + ":\n" + output);
      }
    } catch (InterruptedException e) {
      throw new RuntimeException(e);
    }
    if ((wantHttp && http <= 0) || (wantHttps && https <= 0)) {
      kill();
      throw new RuntimeException("CHILD DID NOT START: " + command + ":\n" + output);
    }
    if (JAR) await(wantHttp ? http : https);
  }

  static void await(int port) {
    for (int i = 0; i < 100; i++) {
      try (java.net.Socket s = new java.net.Socket("127.0.0.1", port)) {
        return;
      } catch (IOException e) {
        try {
          Thread.sleep(30);
        } catch (InterruptedException x) {
          return;
        }
      }
    }
  }

  public boolean isAlive() {
    return process.isAlive();
  }

  public void kill() {
    process.destroy();
    try {
      if (!process.waitFor(JAR ? 1 : 2, TimeUnit.SECONDS)) {
        process.destroyForcibly();
        process.waitFor(3, TimeUnit.SECONDS);
      }
      reader.join(500);
    } catch (InterruptedException e) {
      process.destroyForcibly();
    }
    LIVE.remove(process);
  }
}
