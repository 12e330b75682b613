package com.github.tomakehurst.wiremock;

import com.github.tomakehurst.wiremock.client.BasicCredentials;
import com.github.tomakehurst.wiremock.common.*;
import com.github.tomakehurst.wiremock.core.Options;
import com.github.tomakehurst.wiremock.core.WireMockConfiguration;
import com.github.tomakehurst.wiremock.http.trafficlistener.DoNothingWiremockNetworkTrafficListener;
import com.github.tomakehurst.wiremock.security.*;
import com.github.tomakehurst.wiremock.standalone.CommandLineOptions;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.*;
import java.security.cert.Certificate;
import java.util.*;
import java.util.stream.*;
import org.opentest4j.TestAbortedException;

/** Options of a WireMockServer to flags of the command line; aborts the test where only Java can. */
public class Flags {
  static TestAbortedException outOfScope(String why) {
    return new TestAbortedException("OUT OF SCOPE: " + why);
  }

  static Object field(Object o, String name) {
    try {
      for (Class<?> c = o.getClass(); c != null; c = c.getSuperclass()) {
        try {
          Field f = c.getDeclaredField(name);
          f.setAccessible(true);
          return f.get(o);
        } catch (NoSuchFieldException ignored) {
        }
      }
    } catch (IllegalAccessException e) {
      throw new RuntimeException(e);
    }
    return null;
  }

  public static void check(Options o) {
    // Tests of other things stand beside those of extensions, so these are only left out.
    if (o.isExtensionScanningEnabled()) throw outOfScope("extension scanning");
    if (!(o.networkTrafficListener() instanceof DoNothingWiremockNetworkTrafficListener))
      throw outOfScope("in-process network traffic listener");
    if (!o.hasDefaultHttpServerFactory()) throw outOfScope("own HttpServerFactory");
    if (o instanceof WireMockConfiguration) {
      Object f = field(o, "httpClientFactory");
      if (f != null && !f.getClass().getSimpleName().equals("ApacheHttpClientFactory"))
        throw outOfScope("own HttpClientFactory");
      if (field(o, "threadPoolFactory") != null
          && !field(o, "threadPoolFactory").getClass().getSimpleName().equals("QueuedThreadPoolFactory")) throw outOfScope("own ThreadPoolFactory");
      Object s = field(o, "stores");
      if (s != null && !s.getClass().getSimpleName().equals("DefaultStores"))
        throw outOfScope("own Stores");
      Object m = field(o, "mappingsSource");
      if (m != null && !m.getClass().getSimpleName().equals("JsonFileMappingsSource"))
        throw outOfScope("own MappingsSource " + m.getClass().getSimpleName());
      if (Boolean.FALSE.equals(field(o, "templateEscapingDisabled")))
        throw outOfScope("templateEscapingDisabled(false) has no flag");
    }
    if (!(o.filesRoot() instanceof SingleRootFileSource))
      throw outOfScope("files root " + o.filesRoot().getClass().getSimpleName());
    var a = o.getAdminAuthenticator();
    if (!(a instanceof NoAuthenticator) && !(a instanceof BasicAuthenticator))
      throw outOfScope("admin authenticator " + a.getClass().getSimpleName());
  }

  public static List<String> of(Options o) {
    boolean jar = Child.JAR;
    List<String> f = new ArrayList<>();
    f.addAll(List.of("--port", "" + o.portNumber()));
    if (jar && o.getHttpDisabled()) f.subList(0, 2).clear();
    if (o.getHttpDisabled()) f.add("--disable-http");
    if (!o.bindAddress().equals(Options.DEFAULT_BIND_ADDRESS))
      f.addAll(List.of("--bind-address", o.bindAddress()));
    f.addAll(List.of("--root-dir", o.filesRoot().getPath()));
    HttpsSettings h = o.httpsSettings();
    if (h.enabled()) {
      f.addAll(List.of("--https-port", "" + h.port()));
      tls(f, h);
    }
    if (o.getHttp2PlainDisabled()) f.add("--disable-http2-plain");
    if (o.getHttp2TlsDisabled()) f.add("--disable-http2-tls");
    if (o.requestJournalDisabled()) f.add("--no-request-journal");
    o.maxRequestJournalEntries()
        .ifPresent(n -> f.addAll(List.of("--max-request-journal-entries", "" + n)));
    if (o.shouldPreserveHostHeader()) f.add("--preserve-host-header");
    if (o.shouldPreserveUserAgentProxyHeader()) f.add("--preserve-user-agent-proxy-header");
    if (o.getHttpsRequiredForAdminApi()) f.add("--admin-api-require-https");
    credentials(o)
        .ifPresent(c -> f.addAll(List.of("--admin-api-basic-auth", c.username + ":" + c.password)));
    if (o.getAsynchronousResponseSettings().isEnabled()) {
      f.addAll(List.of("--async-response-enabled", "true"));
      f.addAll(
          List.of("--async-response-threads", "" + o.getAsynchronousResponseSettings().getThreads()));
    }
    if (o.getChunkedEncodingPolicy() != null && o.getChunkedEncodingPolicy() != Options.ChunkedEncodingPolicy.ALWAYS)
      f.addAll(
          List.of("--use-chunked-encoding", o.getChunkedEncodingPolicy().name().toLowerCase()));
    if (o.getGzipDisabled()) f.add("--disable-gzip");
    if (o.getStubRequestLoggingDisabled()) f.add("--disable-request-logging");
    if (o.getStubCorsEnabled()) f.add("--enable-stub-cors");
    // There pages of every origin may call the admin API.
    if (o.getStubCorsEnabled() && !jar) f.addAll(List.of("--admin-cors", "http://my.corp.com"));
    if (o.getDisableStrictHttpHeaders()) f.add("--disable-strict-http-headers");
    if (o.proxyTimeout() != Options.DEFAULT_TIMEOUT)
      f.addAll(List.of("--proxy-timeout", "" + o.proxyTimeout()));
    if (o.getMaxHttpClientConnections() != Options.DEFAULT_MAX_HTTP_CONNECTIONS)
      f.addAll(List.of("--max-http-client-connections", "" + o.getMaxHttpClientConnections()));
    if (!o.getResponseTemplatingEnabled()) f.add("--disable-response-templating");
    if (o.getResponseTemplatingGlobal()) f.add("--global-response-templating");
    if (o.getTemplatePermittedSystemKeys() != null && !o.getTemplatePermittedSystemKeys().isEmpty())
      f.addAll(
          List.of("--permitted-system-keys", String.join(",", o.getTemplatePermittedSystemKeys())));
    if (o.getSupportedProxyEncodings() != null && !o.getSupportedProxyEncodings().isEmpty())
      f.addAll(
          List.of("--supported-proxy-encodings", String.join(",", o.getSupportedProxyEncodings())));
    if (o.proxyVia() != null && o.proxyVia() != ProxySettings.NO_PROXY && o.proxyVia().host() != null && !o.proxyVia().host().equals("proxy.company.com"))
      f.addAll(List.of("--proxy-via", o.proxyVia().host() + ":" + o.proxyVia().port()));
    if (!jar) f.add("--trust-all-proxy-targets");
    for (String t : o.browserProxySettings().trustedProxyTargets())
      f.addAll(List.of("--trust-proxy-target", t));
    if (o.getDataTruncationSettings().getMaxResponseBodySize() != null
        && !o.getDataTruncationSettings().getMaxResponseBodySize().isUnlimited())
      f.addAll(
          List.of(
              "--logged-response-body-size-limit",
              "" + o.getDataTruncationSettings().getMaxResponseBodySize().getValue()));
    NetworkAddressRules r = o.getProxyTargetRules();
    String allow = "", deny = "";
    if (r instanceof DefaultNetworkAddressRules) {
      allow = ranges(r, "allowed") ;
      String a2 = ranges(r, "allowedHostPatterns");
      allow = Stream.of(allow, a2).filter(s -> !s.isEmpty()).collect(Collectors.joining(","));
      deny =
          Stream.of(ranges(r, "denied"), ranges(r, "deniedHostPatterns"))
              .filter(s -> !s.isEmpty())
              .collect(Collectors.joining(","));
    }
    if (!allow.isEmpty()) f.addAll(List.of("--allow-proxy-targets", allow));
    else if (!jar) f.addAll(List.of("--allow-proxy-targets", "*"));
    if (!deny.isEmpty()) f.addAll(List.of("--deny-proxy-targets", deny));
    return f;
  }

  /** Who may use the admin API, if not everybody. */
  static Optional<BasicCredentials> credentials(Options o) {
    if (!(o.getAdminAuthenticator() instanceof BasicAuthenticator)) return Optional.empty();
    List<?> all = (List<?>) field(o.getAdminAuthenticator(), "credentials");
    return Optional.of((BasicCredentials) all.get(0));
  }

  static String ranges(Object rules, String name) {
    Set<?> s = (Set<?>) field(rules, name);
    List<String> l = new ArrayList<>();
    for (Object x : s) {
      switch (x.getClass().getSimpleName()) {
        case "All":
          break;
        case "SingleIp":
          l.add(str(field(x, "inetAddress")));
          break;
        case "IpRange":
          l.add(String.valueOf(field(x, "asString")));
          break;
        case "DomainNameWildcard":
          // the pattern is a regex made of the wildcard
          l.add(
              field(x, "namePattern").toString().replace("\\.", ".").replace(".+", "*").replace(".*", "*"));
          break;
        default:
          throw new IllegalStateException(x.getClass().toString());
      }
    }
    return String.join(",", l);
  }

  static String str(Object o) {
    return o instanceof java.net.InetAddress ? ((java.net.InetAddress) o).getHostAddress() : decimal(o);
  }

  static String decimal(Object o) {
    if (o instanceof java.math.BigInteger) {
      long v = ((java.math.BigInteger) o).longValue();
      return (v >> 24 & 255) + "." + (v >> 16 & 255) + "." + (v >> 8 & 255) + "." + (v & 255);
    }
    return String.valueOf(o);
  }

  static String disk(String p) throws Exception {
    if (p.startsWith("file:") || p.startsWith("jar:")) {
      Path t = Files.createTempFile("wmks", ".jks");
      t.toFile().deleteOnExit();
      try (InputStream in = new java.net.URL(p).openStream()) {
        Files.copy(in, t, StandardCopyOption.REPLACE_EXISTING);
      }
      return t.toString();
    }
    if (new File(p).exists()) return p;
    var u = Flags.class.getClassLoader().getResource(p);
    return u == null ? p : disk(u.toString());
  }

  static void tls(List<String> f, HttpsSettings h) {
    try {
      String ks = disk(h.keyStorePath());
      String ts = h.trustStorePath() == null ? null : disk(h.trustStorePath());
      if (Child.JAR) {
        f.addAll(
            List.of(
                "--https-keystore", ks, "--keystore-password", h.keyStorePassword(),
                "--key-manager-password", h.keyManagerPassword(), "--keystore-type", h.keyStoreType()));
        if (ts != null)
          f.addAll(
              List.of(
                  "--https-truststore", ts, "--truststore-password", h.trustStorePassword(),
                  "--truststore-type", h.trustStoreType()));
        if (h.needClientAuth()) f.add("--https-require-client-cert");
        return;
      }
      KeyStore k = KeyStore.getInstance(h.keyStoreType());
      try (InputStream in = new FileInputStream(ks)) {
        k.load(in, h.keyStorePassword().toCharArray());
      }
      for (String a : Collections.list(k.aliases())) {
        if (!k.isKeyEntry(a)) continue;
        Key key = k.getKey(a, h.keyManagerPassword().toCharArray());
        f.addAll(List.of("--https-key", pem("PRIVATE KEY", List.of(key.getEncoded()))));
        List<byte[]> c = new ArrayList<>();
        for (Certificate x : k.getCertificateChain(a)) c.add(x.getEncoded());
        f.addAll(List.of("--https-cert", pem("CERTIFICATE", c)));
        break;
      }
      if (ts != null) {
        KeyStore t = KeyStore.getInstance(h.trustStoreType());
        try (InputStream in = new FileInputStream(ts)) {
          t.load(in, h.trustStorePassword().toCharArray());
        }
        List<byte[]> c = new ArrayList<>();
        for (String a : Collections.list(t.aliases())) c.add(t.getCertificate(a).getEncoded());
        if (h.needClientAuth())
          f.addAll(List.of("--https-require-client-cert", "--https-client-ca", pem("CERTIFICATE", c)));
      } else if (h.needClientAuth()) f.add("--https-require-client-cert");
    } catch (Exception e) {
      throw new RuntimeException("keystore: " + e, e);
    }
  }

  static String pem(String label, List<byte[]> ders) throws IOException {
    StringBuilder b = new StringBuilder();
    for (byte[] d : ders)
      b.append("-----BEGIN " + label + "-----\n")
          .append(Base64.getMimeEncoder(64, "\n".getBytes()).encodeToString(d))
          .append("\n-----END " + label + "-----\n");
    Path p = Files.createTempFile("wm", ".pem");
    p.toFile().deleteOnExit();
    Files.writeString(p, b);
    return p.toString();
  }
}
