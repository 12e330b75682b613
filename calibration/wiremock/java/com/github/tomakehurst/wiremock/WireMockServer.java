package com.github.tomakehurst.wiremock;

import com.github.tomakehurst.wiremock.client.HttpAdminClient;
import com.github.tomakehurst.wiremock.client.VerificationException;
import com.github.tomakehurst.wiremock.client.WireMock;
import com.github.tomakehurst.wiremock.common.FatalStartupException;
import com.github.tomakehurst.wiremock.common.FileSource;
import com.github.tomakehurst.wiremock.common.ProxySettings;
import com.github.tomakehurst.wiremock.core.Admin;
import com.github.tomakehurst.wiremock.core.Container;
import com.github.tomakehurst.wiremock.core.Options;
import com.github.tomakehurst.wiremock.core.WireMockConfiguration;
import com.github.tomakehurst.wiremock.extension.Extension;
import com.github.tomakehurst.wiremock.extension.PostServeAction;
import com.github.tomakehurst.wiremock.http.RequestListener;
import com.github.tomakehurst.wiremock.matching.RequestPattern;
import com.github.tomakehurst.wiremock.security.ClientAuthenticator;
import com.github.tomakehurst.wiremock.security.ClientBasicAuthenticator;
import com.github.tomakehurst.wiremock.security.NoClientAuthenticator;
import com.github.tomakehurst.wiremock.standalone.MappingsLoader;
import com.github.tomakehurst.wiremock.stubbing.StubMapping;
import com.github.tomakehurst.wiremock.stubbing.StubMappings;
import com.github.tomakehurst.wiremock.verification.LoggedRequest;
import com.github.tomakehurst.wiremock.verification.NearMiss;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.opentest4j.TestAbortedException;

/** Stands in the place of the class of this name: the server is a process of its own, asked over its admin API. */
public class WireMockServer extends DelegatingServer implements Container {
  protected final Options options;
  protected final WireMock client;
  private final Admin admin;
  private Child child;
  private HttpAdminClient http;
  private boolean running;

  public WireMockServer(Options options) {
    this.options = options;
    Flags.check(options);
    admin = proxied(Admin.class, this::call);
    client = new WireMock(admin);
  }

  public WireMockServer() {
    this(WireMockConfiguration.wireMockConfig());
  }

  public WireMockServer(int port) {
    this(WireMockConfiguration.wireMockConfig().port(port));
  }

  public WireMockServer(int port, FileSource files, boolean browserProxying) {
    this(
        WireMockConfiguration.wireMockConfig()
            .port(port)
            .fileSource(files)
            .enableBrowserProxying(browserProxying));
  }

  public WireMockServer(int port, FileSource files, boolean browserProxying, ProxySettings via) {
    this(
        WireMockConfiguration.wireMockConfig()
            .port(port)
            .fileSource(files)
            .enableBrowserProxying(browserProxying)
            .proxyVia(via));
  }

  public WireMockServer(int port, Integer httpsPort) {
    this(WireMockConfiguration.wireMockConfig().port(port).httpsPort(httpsPort));
  }

  /** What becomes of a call of an interface. */
  private interface Calls {
    Object of(Method method, Object[] arguments) throws Throwable;
  }

  private static <T> T proxied(Class<T> type, Calls calls) {
    ClassLoader loader = WireMockServer.class.getClassLoader();
    return type.cast(
        Proxy.newProxyInstance(
            loader,
            new Class<?>[] {type},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "hashCode" -> System.identityHashCode(proxy);
                  case "equals" -> proxy == arguments[0];
                  case "toString" -> type.getSimpleName();
                  default -> calls.of(method, arguments);
                }));
  }

  private Object call(Method method, Object[] arguments) throws Throwable {
    if (method.getName().equals("getOptions")) return options;
    Object first = arguments == null || arguments.length == 0 ? null : arguments[0];
    RequestPattern pattern = first instanceof RequestPattern ? (RequestPattern) first : null;
    if (first instanceof StubMapping) pattern = ((StubMapping) first).getRequest();
    if (pattern != null && pattern.hasInlineCustomMatcher()) {
      throw Flags.outOfScope("a matcher that is an object of this process");
    }
    try {
      launch();
      return method.invoke(http, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  private synchronized void launch() {
    if (child != null) return;
    boolean tls = options.httpsSettings().enabled(), clear = !options.getHttpDisabled();
    child = new Child(Flags.of(options), clear, tls);
    boolean adminOverTls = tls && (!clear || options.getHttpsRequiredForAdminApi());
    String scheme = adminOverTls ? "https" : "http";
    int port = adminOverTls ? child.https : child.http;
    http = new HttpAdminClient(scheme, "localhost", port, "", null, null, 0, authenticator());
    List<PostServeAction> actions = new ArrayList<>();
    for (Extension extension : options.getDeclaredExtensions().getInstances().values()) {
      if (extension instanceof PostServeAction) actions.add((PostServeAction) extension);
    }
    boolean told = options.notifier().getClass().getName().contains("testsupport");
    if (told || !actions.isEmpty()) {
      JournalPoller poller = new JournalPoller(http, options.notifier(), actions);
      Child mine = child;
      Thread thread = new Thread(() -> poller.run(() -> child == mine && mine.isAlive()));
      thread.setDaemon(true);
      thread.start();
    }
  }

  private ClientAuthenticator authenticator() {
    return Flags.credentials(options)
        .<ClientAuthenticator>map(own -> new ClientBasicAuthenticator(own.username, own.password))
        .orElseGet(NoClientAuthenticator::noClientAuthenticator);
  }

  @Override
  Admin admin() {
    return admin;
  }

  @Override
  WireMock client() {
    return client;
  }

  @Override
  public Options getOptions() {
    return options;
  }

  public void start() {
    try {
      launch();
    } catch (TestAbortedException e) {
      throw e;
    } catch (RuntimeException e) {
      throw new FatalStartupException(e);
    }
    running = true;
  }

  public synchronized void stop() {
    running = false;
    if (child != null) child.kill();
    child = null;
  }

  /** Ends the server once the call that asks for it is answered. */
  @Override
  public void shutdown() {
    Thread later =
        new Thread(
            () -> {
              try {
                Thread.sleep(100);
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
              stop();
            });
    later.start();
  }

  @Override
  public void shutdownServer() {
    shutdown();
  }

  public boolean isRunning() {
    return running && child != null && child.isAlive();
  }

  public boolean isHttpEnabled() {
    return !options.getHttpDisabled();
  }

  public boolean isHttpsEnabled() {
    return options.httpsSettings().enabled();
  }

  @Override
  public int port() {
    return portOf(isHttpEnabled(), "HTTP");
  }

  public int httpsPort() {
    return portOf(isHttpsEnabled(), "HTTPS");
  }

  private int portOf(boolean enabled, String protocol) {
    if (!enabled || !isRunning()) {
      String why = "Not listening on %1$s port. Either %1$s is not enabled or the WireMock server is stopped.";
      throw new IllegalStateException(String.format(why, protocol));
    }
    return protocol.equals("HTTPS") ? child.https : child.http;
  }

  public String baseUrl() {
    return isHttpsEnabled() ? "https://localhost:" + httpsPort() : "http://localhost:" + port();
  }

  public String url(String path) {
    return baseUrl() + (path.startsWith("/") ? path : "/" + path);
  }

  /** Hands what a loader of Java's loads to the server. */
  public void loadMappingsUsing(MappingsLoader loader) {
    loader.loadMappingsInto(
        proxied(
            StubMappings.class,
            (method, arguments) -> {
              if (!method.getName().equals("addMapping")) throw Flags.outOfScope(method.getName());
              admin.addStubMapping((StubMapping) arguments[0]);
              return null;
            }));
  }

  public void addMockServiceRequestListener(RequestListener listener) {
    throw Flags.outOfScope("a listener in the server's process");
  }

  public void enableRecordMappings(FileSource mappings, FileSource files) {
    throw Flags.outOfScope("a recording that is begun from within");
  }

  public Set<String> getLoadedExtensionNames() {
    throw Flags.outOfScope("names of loaded extensions");
  }

  public void checkForUnmatchedRequests() {
    List<LoggedRequest> unmatched = findAllUnmatchedRequests();
    if (unmatched.isEmpty()) return;
    List<NearMiss> nearMisses = findNearMissesForAllUnmatchedRequests();
    throw nearMisses.isEmpty()
        ? VerificationException.forUnmatchedRequests(unmatched)
        : VerificationException.forUnmatchedNearMisses(nearMisses);
  }
}
