"""Python's `wiremock` against a mock: every call is one that test suites make. A line for each: "ok NAME" or "failed NAME: why".

Left out is `GlobalSettings`: it wants a body where WireMock answers none.

python drive.py PORT
"""

import sys
import urllib.error
import urllib.request

from wiremock.client import (
    BasicAuthCredentials,
    CommonHeaders,
    DelayDistribution,
    DelayDistributionMethods,
    HttpMethods,
    Mapping,
    MappingRequest,
    MappingResponse,
    Mappings,
    NearMisses,
    NearMissMatchPatternRequest,
    Requests,
    Scenarios,
    WireMockMatchers,
)
from wiremock.constants import Config

BASE = f"http://127.0.0.1:{sys.argv[1]}"
Config.base_url = f"{BASE}/__admin"
failed = False


def ask(path, method="GET", body=None, headers=None):
    data = None if body is None else body.encode()
    request = urllib.request.Request(BASE + path, data, headers or {}, method=method)
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def same(expected, actual):
    if expected != actual:
        raise AssertionError(f"{actual!r}, not {expected!r}")


def stub(url, body, **more):
    mapping = Mapping(
        request=MappingRequest(method=HttpMethods.GET, url=url),
        response=MappingResponse(status=200, body=body),
        **more,
    )
    return Mappings.create_mapping(mapping)


def creating():
    made = stub("/hello", "hi", priority=1)
    same((200, "hi"), ask("/hello"))
    found = Mappings.retrieve_mapping(made.id)
    same(1, found.priority)
    found.response.body = "changed"
    Mappings.update_mapping(found)
    same((200, "changed"), ask("/hello"))
    same(1, len(Mappings.retrieve_all_mappings().mappings))
    Mappings.delete_mapping(made.id)
    same(404, ask("/hello")[0])


def matching():
    request = MappingRequest(
        method=HttpMethods.POST,
        url_path="/m",
        headers={"X-A": {WireMockMatchers.CONTAINS: "b"}},
        query_parameters={"q": {WireMockMatchers.MATCHES: "[0-9]+"}},
        body_patterns=[{WireMockMatchers.EQUAL_TO_JSON: '{"a": 1}'}],
        basic_auth_credentials=BasicAuthCredentials(username="u", password="p"),
    )
    response = MappingResponse(status=201, json_body={"ok": True}, headers={CommonHeaders.CONTENT_TYPE: "application/json"})
    Mappings.create_mapping(Mapping(request=request, response=response))
    headers = {"X-A": "abc", "Authorization": "Basic dTpw"}
    same(201, ask("/m?q=7", "POST", '{"a": 1.0}', headers)[0])
    same(404, ask("/m?q=x", "POST", '{"a": 1}', headers)[0])


def delaying():
    distribution = DelayDistribution(distribution_type=DelayDistributionMethods.UNIFORM, lower=1, upper=2)
    response = MappingResponse(status=200, body="late", delay_distribution=distribution, fixed_delay_milliseconds=5)
    Mappings.create_mapping(Mapping(request=MappingRequest(method="GET", url="/late"), response=response))
    same((200, "late"), ask("/late"))


def verifying():
    stub("/v", "v")
    ask("/v")
    ask("/v")
    ask("/w")
    pattern = NearMissMatchPatternRequest(url="/v", method=HttpMethods.GET)
    same(2, Requests.get_matching_request_count(pattern).count)
    found = Requests.get_matching_requests(pattern).requests
    same(["/v", "/v"], [request.url for request in found])
    everything = Requests.get_all_received_requests().requests
    same(3, len(everything))
    same("/w", Requests.get_request(everything[0].id).request.url)
    same(["/w"], [request.url for request in Requests.get_unmatched_requests().requests])


def near_misses():
    stub("/near", "n")
    ask("/neat")
    same(1, len(Requests.get_unmatched_requests_near_misses().near_misses))
    pattern = NearMissMatchPatternRequest(url="/nest", method=HttpMethods.GET)
    same(1, len(NearMisses.find_nearest_misses_by_request_pattern(pattern).near_misses))


def scenarios():
    for state, after in [("Started", "open"), ("open", "Started")]:
        stub("/s", state, scenario_name="door", required_scenario_state=state, new_scenario_state=after)
    same((200, "Started"), ask("/s"))
    same((200, "open"), ask("/s"))
    same((200, "Started"), ask("/s"))
    Scenarios.reset_all_scenarios()
    same((200, "Started"), ask("/s"))


def metadata():
    stub("/a", "a", metadata={"team": "red"})
    stub("/b", "b")
    Mappings.delete_mapping_by_metadata({"matchesJsonPath": {"expression": "$.team", "equalTo": "red"}})
    same(1, len(Mappings.retrieve_all_mappings().mappings))


def resetting():
    stub("/r", "r")
    Mappings.reset_mappings()
    same(0, len(Mappings.retrieve_all_mappings().mappings))
    stub("/r", "r")
    Mappings.delete_all_mappings()
    same(404, ask("/r")[0])


for step in [creating, matching, delaying, verifying, near_misses, scenarios, metadata, resetting]:
    try:
        Mappings.reset_mappings()
        step()
        print(f"ok {step.__name__}")
    except Exception as error:  # Whatever a client throws is what its user would see.
        failed = True
        print(f"failed {step.__name__}: {error!r}".replace("\n", " "))
sys.exit(1 if failed else 0)
