// WireMock's own Java client against a mock: every call is one that test suites make. A line for each: "ok NAME" or "failed NAME: why".
//
// java -cp wiremock.jar Drive.java PORT

import static com.github.tomakehurst.wiremock.client.WireMock.*;

import com.github.tomakehurst.wiremock.client.VerificationException;
import com.github.tomakehurst.wiremock.client.WireMock;
import com.github.tomakehurst.wiremock.common.Metadata;
import com.github.tomakehurst.wiremock.global.GlobalSettings;
import com.github.tomakehurst.wiremock.http.Fault;
import com.github.tomakehurst.wiremock.stubbing.StubImport;
import com.github.tomakehurst.wiremock.stubbing.StubMapping;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Base64;
import java.util.UUID;

public class Drive {
  private static int port;
  private static WireMock mock;
  private static boolean failed;
  private static final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  interface Step {
    void run() throws Exception;
  }

  public static void main(String[] arguments) {
    port = Integer.parseInt(arguments[0]);
    mock = new WireMock("127.0.0.1", port);
    // Some of its methods are static and use this one.
    WireMock.configureFor("127.0.0.1", port);
    stubs();
    matchers();
    responses();
    verification();
    others();
    System.exit(failed ? 1 : 0);
  }

  private static void stubs() {
    check("register and serve", () -> {
      mock.register(get(urlEqualTo("/hello")).willReturn(ok("hi")));
      same("hi", body("GET", "/hello"));
    });
    check("get, edit and remove a stub", () -> {
      StubMapping stub = mock.register(get("/stub").withName("named").willReturn(ok("one")));
      same("named", mock.getStubMapping(stub.getId()).getItem().getName());
      mock.editStubMapping(get("/stub").withId(stub.getId()).willReturn(ok("two")));
      same("two", body("GET", "/stub"));
      mock.removeStubMapping(stub);
      same(404, send("GET", "/stub", "").statusCode());
    });
    check("list stubs", () -> {
      mock.register(get("/a").willReturn(ok()));
      mock.register(get("/b").atPriority(1).willReturn(ok()));
      same(2, mock.allStubMappings().getMappings().size());
      same("/b", mock.allStubMappings().getMappings().get(0).getRequest().getUrl());
    });
    check("metadata", () -> {
      mock.register(get("/m").withMetadata(Metadata.metadata().attr("team", "red").build()).willReturn(ok()));
      mock.register(get("/n").willReturn(ok()));
      same(1, mock.findAllStubsByMetadata(matchingJsonPath("$.team", equalTo("red"))).size());
      mock.removeStubsByMetadataPattern(matchingJsonPath("$.team"));
      same(1, mock.allStubMappings().getMappings().size());
    });
    check("import", () -> {
      UUID id = UUID.randomUUID();
      mock.register(get("/i").withId(id).willReturn(ok("old")));
      mock.importStubMappings(
          StubImport.stubImport().stub(get("/i").withId(id).willReturn(ok("new")))
              .stub(get("/j").willReturn(ok("j"))).overwriteExisting().build());
      same("new", body("GET", "/i"));
      same("j", body("GET", "/j"));
    });
    check("a duplicate id is refused", () -> {
      StubMapping stub = mock.register(get("/d").willReturn(ok()));
      throwing(() -> mock.register(get("/e").withId(stub.getId()).willReturn(ok())));
    });
  }

  private static void matchers() {
    check("query, headers, cookies", () -> {
      mock.register(get(urlPathEqualTo("/q")).withQueryParam("a", matching("[0-9]+"))
          .withHeader("X-A", containing("b")).withCookie("c", equalTo("d")).willReturn(ok("all")));
      HttpRequest.Builder request = request("/q?a=12").header("X-A", "abc").header("Cookie", "c=d");
      same("all", http.send(request.GET().build(), HttpResponse.BodyHandlers.ofString()).body());
      same(404, send("GET", "/q?a=x", "").statusCode());
    });
    check("JSON", () -> {
      mock.register(post("/json").withRequestBody(equalToJson("{\"a\": [1, 2]}", true, true)).willReturn(ok("equal")));
      mock.register(post("/json").withRequestBody(matchingJsonPath("$.b[?(@.c == 1)]")).willReturn(ok("path")));
      mock.register(post("/json").withRequestBody(matchingJsonSchema("{\"required\": [\"s\"]}")).willReturn(ok("schema")));
      same("equal", send("POST", "/json", "{\"a\": [2, 1], \"z\": 0}").body());
      same("path", send("POST", "/json", "{\"b\": [{\"c\": 1}]}").body());
      same("schema", send("POST", "/json", "{\"s\": 1}").body());
    });
    check("XML", () -> {
      mock.register(post("/xml").withRequestBody(equalToXml("<a><b/><c/></a>")).willReturn(ok("equal")));
      mock.register(post("/xml").withRequestBody(matchingXPath("//d/text()", equalTo("1"))).willReturn(ok("path")));
      same("equal", send("POST", "/xml", "<a><c/><b/></a>").body());
      same("path", send("POST", "/xml", "<x><d>1</d></x>").body());
    });
    check("logic, dates, basic authentication", () -> {
      mock.register(get(urlPathTemplate("/t/{id}")).withPathParam("id", matching("[0-9]+"))
          .withHeader("When", before("2100-01-01T00:00:00Z")).withHeader("X", not(containing("y")).and(containing("z")))
          .withBasicAuth("u", "p").willReturn(ok("logic")));
      String credentials = Base64.getEncoder().encodeToString("u:p".getBytes());
      HttpRequest request = request("/t/7").header("When", "2026-01-01T00:00:00Z").header("X", "z")
          .header("Authorization", "Basic " + credentials).GET().build();
      same("logic", http.send(request, HttpResponse.BodyHandlers.ofString()).body());
    });
  }

  private static void responses() {
    check("status, message, headers, bodies", () -> {
      mock.register(get("/r").willReturn(aResponse().withStatus(418).withHeader("A", "1", "2").withBody("b")));
      HttpResponse<String> response = send("GET", "/r", "");
      same(418, response.statusCode());
      same(2, response.headers().allValues("A").size());
      mock.register(get("/j").willReturn(jsonResponse("{\"a\": 1}", 201)));
      same(201, send("GET", "/j", "").statusCode());
    });
    check("templates", () -> {
      mock.register(get(urlPathEqualTo("/t")).willReturn(
          ok("{{request.query.name}} {{randomValue type='UUID'}}").withTransformers("response-template")));
      same(true, body("GET", "/t?name=n").matches("n [0-9a-f-]{36}"));
    });
    check("delays", () -> {
      mock.register(get("/slow").willReturn(ok().withFixedDelay(120)));
      mock.register(get("/dist").willReturn(ok().withUniformRandomDelay(1, 2)));
      mock.register(get("/log").willReturn(ok().withLogNormalRandomDelay(2, 0.1)));
      mock.register(get("/drip").willReturn(ok("drip").withChunkedDribbleDelay(2, 20)));
      long before = System.nanoTime();
      send("GET", "/slow", "");
      same(true, System.nanoTime() - before >= 120_000_000L);
      send("GET", "/dist", "");
      send("GET", "/log", "");
      same("drip", body("GET", "/drip"));
    });
    check("faults", () -> {
      for (Fault fault : Fault.values()) {
        mock.register(get("/fault").willReturn(aResponse().withFault(fault)));
        try {
          send("GET", "/fault", "");
          throw new IllegalStateException(fault + " was an answer");
        } catch (IOException expected) {
          // So it should be.
        }
      }
    });
  }

  private static void verification() {
    check("verify", () -> {
      mock.register(any(anyUrl()).willReturn(ok()));
      send("GET", "/v", "");
      send("POST", "/v", "text");
      mock.verifyThat(2, anyRequestedFor(urlEqualTo("/v")));
      mock.verifyThat(postRequestedFor(urlEqualTo("/v")).withRequestBody(equalTo("text")));
      mock.verifyThat(moreThanOrExactly(1), getRequestedFor(urlPathMatching("/v.*")));
      throwing(() -> mock.verifyThat(3, anyRequestedFor(urlEqualTo("/v"))));
      throwing(() -> mock.verifyThat(getRequestedFor(urlEqualTo("/other"))));
    });
    check("find requests", () -> {
      send("GET", "/f?a=1", "");
      var found = mock.find(getRequestedFor(urlPathEqualTo("/f")));
      same(1, found.size());
      same("1", found.get(0).queryParameter("a").firstValue());
    });
    check("serve events", () -> {
      StubMapping stub = mock.register(get("/s").willReturn(ok("served")));
      send("GET", "/s", "");
      send("GET", "/unknown", "");
      var events = mock.getServeEvents();
      same(2, events.size());
      same(false, events.get(0).getWasMatched());
      same("served", events.get(1).getResponse().getBodyAsString());
      same(stub.getId(), events.get(1).getStubMapping().getId());
    });
    check("unmatched requests and near misses", () -> {
      mock.register(get("/near").willReturn(ok()));
      send("GET", "/neat", "");
      same(1, mock.findAllUnmatchedRequests().size());
      same("/near", mock.findNearMissesForAllUnmatchedRequests().get(0).getStubMapping().getRequest().getUrl());
      same(1, mock.findAllNearMissesFor(getRequestedFor(urlEqualTo("/nest"))).size());
    });
    check("remove requests", () -> {
      send("GET", "/gone", "");
      send("GET", "/kept", "");
      mock.removeServeEvents(getRequestedFor(urlEqualTo("/gone")));
      same(1, mock.getServeEvents().size());
      mock.resetRequests();
      same(0, mock.getServeEvents().size());
    });
  }

  private static void others() {
    check("scenarios", () -> {
      mock.register(get("/s").inScenario("door").whenScenarioStateIs("Started").willSetStateTo("open").willReturn(ok("1")));
      mock.register(get("/s").inScenario("door").whenScenarioStateIs("open").willReturn(ok("2")));
      same("1", body("GET", "/s"));
      same("open", mock.getAllScenarios().get(0).getState());
      same("2", body("GET", "/s"));
      mock.setSingleScenarioState("door", "Started");
      same("1", body("GET", "/s"));
      mock.resetScenarios();
      same("Started", mock.getAllScenarios().get(0).getState());
    });
    check("settings", () -> {
      mock.register(get("/slow").willReturn(ok()));
      mock.updateGlobalSettings(GlobalSettings.builder().fixedDelay(100).build());
      same(100, mock.getSettings().getFixedDelay());
      long before = System.nanoTime();
      send("GET", "/slow", "");
      same(true, System.nanoTime() - before >= 100_000_000L);
      mock.updateGlobalSettings(GlobalSettings.builder().build());
    });
  }

  private static void check(String name, Step step) {
    try {
      mock.resetMappings();
      step.run();
      System.out.println("ok " + name);
    } catch (Throwable error) {
      failed = true;
      System.out.println("failed " + name + ": " + String.valueOf(error).replace('\n', ' '));
    }
  }

  private static void same(Object expected, Object actual) {
    if (!expected.equals(actual)) {
      throw new IllegalStateException(actual + ", not " + expected);
    }
  }

  private static void throwing(Step step) throws Exception {
    try {
      step.run();
    } catch (VerificationException | com.github.tomakehurst.wiremock.common.ClientError expected) {
      return;
    }
    throw new IllegalStateException("nothing was thrown");
  }

  private static HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path));
  }

  private static HttpResponse<String> send(String method, String path, String body) throws Exception {
    HttpRequest request = request(path).method(method, HttpRequest.BodyPublishers.ofString(body)).build();
    return http.send(request, HttpResponse.BodyHandlers.ofString());
  }

  private static String body(String method, String path) throws Exception {
    return send(method, path, "").body();
  }
}
