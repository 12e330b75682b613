//! The rows of `docs/wiremock.md`: what there is in WireMock, an example of it, and how it differs here.

use super::Example::{self, Absent, Route, Stub, Template, Test};

/// A part of the page.
pub(super) struct Section {
    pub(super) title: &'static str,
    /// A feature, with the names that it has in WireMock between backticks; its example; how it differs, or why it is not there.
    pub(super) rows: &'static [(&'static str, Example, &'static str)],
}

pub(super) const SECTIONS: &[Section] = &[
    Section {
        title: "The mapping",
        rows: &[
            (
                "`id`, `uuid`",
                Stub(
                    r#"{"id": "5c3ab2a8-1f07-4d6e-9b9c-0123456789ab", "uuid": "5c3ab2a8-1f07-4d6e-9b9c-0123456789ab"}"#,
                ),
                "",
            ),
            ("`name`", Stub(r#"{"name": "n"}"#), ""),
            ("`priority`", Stub(r#"{"priority": 1}"#), ""),
            ("`request`", Stub(r#"{"request": {}}"#), ""),
            ("`response`", Stub(r#"{"response": {}}"#), ""),
            (
                "`scenarioName`, `requiredScenarioState`, `newScenarioState`",
                Stub(
                    r#"{"scenarioName": "s", "requiredScenarioState": "Started", "newScenarioState": "x"}"#,
                ),
                "exact under load: of many requests at once each takes one step; a required state without a scenario is refused",
            ),
            ("`persistent`", Stub(r#"{"persistent": true}"#), ""),
            (
                "`metadata`, with `plimsoll` in it",
                Stub(r#"{"metadata": {"any": 1}}"#),
                "its part `plimsoll` adds behaviour under load ([mock.md](mock.md#beyond-wiremock))",
            ),
            (
                "`postServeActions`",
                Stub(
                    r#"{"postServeActions": [{"name": "webhook", "parameters": {"url": "http://localhost"}}]}"#,
                ),
                "webhooks alone, to hosts that are allowed",
            ),
            (
                "`serveEventListeners` (webhooks): `requestPhases`, `parameters` with `delay`",
                Stub(
                    r#"{"serveEventListeners": [{"name": "webhook", "parameters": {"url": "http://localhost"}}]}"#,
                ),
                "webhooks alone, to hosts that are allowed ([mock.md](mock.md#webhooks))",
            ),
            (
                "`$schema`, `insertionIndex`",
                Stub(r#"{"$schema": "x", "insertionIndex": 1}"#),
                "",
            ),
            (
                "files of several mappings: `mappings`, `meta`",
                Stub(r#"{"mappings": [{"name": "n"}], "meta": {}}"#),
                "",
            ),
            (
                "`importOptions` in a file",
                Stub(r#"{"mappings": [], "importOptions": {"duplicatePolicy": "IGNORE"}}"#),
                "a file replaces nothing; `POST /__admin/mappings/import` has them",
            ),
            (
                "comments and single quotes",
                Stub("{ /* so */ 'name': 'n' } // and so"),
                "",
            ),
        ],
    },
    Section {
        title: "The request",
        rows: &[
            ("`url`", Stub(r#"{"request": {"url": "/a?b=c"}}"#), ""),
            (
                "`urlPattern`",
                Stub(r#"{"request": {"urlPattern": "/a.*"}}"#),
                "a regular expression that Java takes and this mock cannot run is refused",
            ),
            ("`urlPath`", Stub(r#"{"request": {"urlPath": "/a"}}"#), ""),
            (
                "`urlPathPattern`",
                Stub(r#"{"request": {"urlPathPattern": "/a/[0-9]+"}}"#),
                "as `urlPattern`",
            ),
            (
                "`urlPathTemplate`, `pathParameters`",
                Stub(
                    r#"{"request": {"urlPathTemplate": "/a/{b}", "pathParameters": {"b": {"equalTo": "1"}}}}"#,
                ),
                "`pathParameters` without a template are refused",
            ),
            (
                "`method`",
                Stub(r#"{"request": {"method": "GET"}}"#),
                r#"also `{"oneOf": […]}` and `{"noneOf": […]}`, as in WireMock 4"#,
            ),
            (
                "`method` `ANY`",
                Stub(r#"{"request": {"method": "ANY"}}"#),
                "",
            ),
            ("`scheme`", Stub(r#"{"request": {"scheme": "http"}}"#), ""),
            (
                "`host`",
                Stub(r#"{"request": {"host": {"equalTo": "localhost"}}}"#),
                "",
            ),
            ("`port`", Stub(r#"{"request": {"port": 80}}"#), ""),
            (
                "`clientIp`",
                Stub(r#"{"request": {"clientIp": {"equalTo": "127.0.0.1"}}}"#),
                "",
            ),
            (
                "`headers`",
                Stub(r#"{"request": {"urlPath": "/a", "headers": {"A": {"equalTo": "1"}}}}"#),
                "any of several values may match; WireMock tries the nearest",
            ),
            (
                "`queryParameters`",
                Stub(
                    r#"{"request": {"urlPath": "/a", "queryParameters": {"a": {"equalTo": "1"}}}}"#,
                ),
                "as `headers`",
            ),
            (
                "`formParameters`",
                Stub(
                    r#"{"request": {"urlPath": "/a", "formParameters": {"a": {"equalTo": "1"}}}}"#,
                ),
                "as `headers`",
            ),
            (
                "`cookies`",
                Stub(r#"{"request": {"urlPath": "/a", "cookies": {"a": {"equalTo": "1"}}}}"#),
                "",
            ),
            (
                "`basicAuth`, `basicAuthCredentials`: `username`, `password`",
                Stub(
                    r#"{"request": {"urlPath": "/a", "basicAuth": {"username": "u", "password": "p"}, "basicAuthCredentials": {"username": "u", "password": "p"}}}"#,
                ),
                "",
            ),
            (
                "`bodyPatterns`",
                Stub(r#"{"request": {"urlPath": "/a", "bodyPatterns": [{"equalTo": "x"}]}}"#),
                "",
            ),
            (
                "`multipartPatterns`: `name`, `fileName`, `matchingType`",
                Stub(
                    r#"{"request": {"urlPath": "/a", "multipartPatterns": [{"name": "n", "fileName": "f", "matchingType": "ANY", "headers": {}, "bodyPatterns": []}]}}"#,
                ),
                "packed bodies of parts are not unpacked",
            ),
            (
                "`customMatcher`",
                Stub(r#"{"request": {"urlPath": "/a", "customMatcher": {"name": "x"}}}"#),
                "an extension in Java",
            ),
            (
                "`hasExactly`",
                Stub(
                    r#"{"request": {"urlPath": "/a", "headers": {"A": {"hasExactly": [{"equalTo": "1"}]}}}}"#,
                ),
                "",
            ),
            (
                "`includes`",
                Stub(
                    r#"{"request": {"urlPath": "/a", "headers": {"A": {"includes": [{"equalTo": "1"}]}}}}"#,
                ),
                "",
            ),
        ],
    },
    Section {
        title: "Content patterns",
        rows: &[
            (
                "`equalTo`, `caseInsensitive`",
                Stub(
                    r#"{"request": {"bodyPatterns": [{"equalTo": "x", "caseInsensitive": true}]}}"#,
                ),
                "",
            ),
            (
                "`binaryEqualTo`",
                Stub(r#"{"request": {"bodyPatterns": [{"binaryEqualTo": "AQID"}]}}"#),
                "",
            ),
            (
                "`contains`",
                Stub(r#"{"request": {"bodyPatterns": [{"contains": "x"}]}}"#),
                "",
            ),
            (
                "`doesNotContain`",
                Stub(r#"{"request": {"bodyPatterns": [{"doesNotContain": "x"}]}}"#),
                "",
            ),
            (
                "`matches`",
                Stub(r#"{"request": {"bodyPatterns": [{"matches": "x.*"}]}}"#),
                "as `urlPattern`",
            ),
            (
                "`doesNotMatch`",
                Stub(r#"{"request": {"bodyPatterns": [{"doesNotMatch": "x.*"}]}}"#),
                "as `urlPattern`",
            ),
            (
                "`absent`",
                Stub(r#"{"request": {"bodyPatterns": [{"absent": true}]}}"#),
                "",
            ),
            (
                "`anything`",
                Stub(r#"{"request": {"bodyPatterns": [{"anything": "(always)"}]}}"#),
                "",
            ),
            (
                "`not`",
                Stub(r#"{"request": {"bodyPatterns": [{"not": {"equalTo": "x"}}]}}"#),
                "",
            ),
            (
                "`and`",
                Stub(
                    r#"{"request": {"bodyPatterns": [{"and": [{"contains": "x"}, {"contains": "y"}]}]}}"#,
                ),
                "",
            ),
            (
                "`or`",
                Stub(
                    r#"{"request": {"bodyPatterns": [{"or": [{"contains": "x"}, {"contains": "y"}]}]}}"#,
                ),
                "",
            ),
            (
                "`equalToJson`, `ignoreArrayOrder`, `ignoreExtraElements`",
                Stub(
                    r#"{"request": {"bodyPatterns": [{"equalToJson": {"a": 1}, "ignoreArrayOrder": true, "ignoreExtraElements": true}]}}"#,
                ),
                "numbers of more than 17 digits compare as the nearest doubles",
            ),
            (
                "placeholders of JsonUnit",
                Stub(
                    r#"{"request": {"bodyPatterns": [{"equalToJson": "{\"a\": \"${json-unit.any-string}\"}"}]}}"#,
                ),
                "`${json-unit.matches:…}` is refused",
            ),
            (
                "`matchesJsonPath`",
                Stub(r#"{"request": {"bodyPatterns": [{"matchesJsonPath": "$.a"}]}}"#),
                "the functions `append` and `concat` are refused",
            ),
            (
                "`matchesJsonPath` with `expression` and a pattern",
                Stub(
                    r#"{"request": {"bodyPatterns": [{"matchesJsonPath": {"expression": "$.a", "equalTo": "1"}}]}}"#,
                ),
                "`keys()` gives names",
            ),
            (
                "`matchesJsonSchema`, `schemaVersion`",
                Stub(
                    r#"{"request": {"bodyPatterns": [{"matchesJsonSchema": {"type": "object"}, "schemaVersion": "V202012"}]}}"#,
                ),
                "a schema that is none is refused when it is loaded; one with `id` matches nothing from draft 6 on, as there",
            ),
            (
                "`equalToXml`, `ignoreOrderOfSameNode`",
                Stub(
                    r#"{"request": {"bodyPatterns": [{"equalToXml": "<a/>", "ignoreOrderOfSameNode": true}]}}"#,
                ),
                "CDATA is text; mixed content compares in the order of the document",
            ),
            (
                "`exemptedComparisons`",
                Stub(
                    r#"{"request": {"bodyPatterns": [{"equalToXml": "<a/>", "exemptedComparisons": ["NAMESPACE_URI"]}]}}"#,
                ),
                "",
            ),
            (
                "`namespaceAwareness`",
                Stub(
                    r#"{"request": {"bodyPatterns": [{"equalToXml": "<a/>", "namespaceAwareness": "LEGACY"}]}}"#,
                ),
                "",
            ),
            (
                "`enablePlaceholders`, `placeholderOpeningDelimiterRegex`, `placeholderClosingDelimiterRegex`",
                Stub(
                    r#"{"request": {"bodyPatterns": [{"equalToXml": "<a>[[xmlunit.ignore]]</a>", "enablePlaceholders": true, "placeholderOpeningDelimiterRegex": "\\[\\[", "placeholderClosingDelimiterRegex": "\\]\\]"}]}}"#,
                ),
                "`ignore`, `isNumber`, `isDateTime` (also with a date pattern), `matchesRegex`",
            ),
            (
                "`matchesXPath`, `xPathNamespaces`",
                Stub(
                    r#"{"request": {"bodyPatterns": [{"matchesXPath": "//s:a", "xPathNamespaces": {"s": "urn:s"}}]}}"#,
                ),
                "an expression that is none is refused when it is loaded",
            ),
            (
                "`matchesXPath` with `expression` and a pattern",
                Stub(
                    r#"{"request": {"bodyPatterns": [{"matchesXPath": {"expression": "//a", "equalTo": "1"}}]}}"#,
                ),
                "",
            ),
            (
                "`before`",
                Stub(r#"{"request": {"bodyPatterns": [{"before": "now"}]}}"#),
                "a date without a zone is one of UTC",
            ),
            (
                "`after`",
                Stub(r#"{"request": {"bodyPatterns": [{"after": "now +3 days"}]}}"#),
                "as `before`",
            ),
            (
                "`equalToDateTime`",
                Stub(
                    r#"{"request": {"bodyPatterns": [{"equalToDateTime": "2026-01-01T00:00:00Z"}]}}"#,
                ),
                "as `before`",
            ),
            (
                "`actualFormat`",
                Stub(
                    r#"{"request": {"bodyPatterns": [{"before": "now", "actualFormat": "yyyy-MM-dd"}]}}"#,
                ),
                "",
            ),
            (
                "`truncateExpected`, `truncateActual`, `applyTruncationLast`",
                Stub(
                    r#"{"request": {"bodyPatterns": [{"before": "now", "truncateExpected": "first day of month", "truncateActual": "first hour of day", "applyTruncationLast": true}]}}"#,
                ),
                "",
            ),
            (
                "`expectedOffset`, `expectedOffsetUnit`",
                Stub(
                    r#"{"request": {"bodyPatterns": [{"before": "now", "expectedOffset": 1, "expectedOffsetUnit": "days"}]}}"#,
                ),
                "",
            ),
            (
                "`matchesPathTemplate`",
                Stub(r#"{"request": {"bodyPatterns": [{"matchesPathTemplate": "/a/{b}"}]}}"#),
                "",
            ),
        ],
    },
    Section {
        title: "The response",
        rows: &[
            (
                "`status`",
                Stub(r#"{"response": {"status": 201}}"#),
                "below 200 and above 999 is refused",
            ),
            (
                "`statusMessage`",
                Stub(r#"{"response": {"statusMessage": "Fine"}}"#),
                "",
            ),
            (
                "`headers`, of one or several values",
                Stub(r#"{"response": {"headers": {"A": ["1", "2"]}}}"#),
                "`Transfer-Encoding` is ours",
            ),
            ("`body`", Stub(r#"{"response": {"body": "x"}}"#), ""),
            (
                "`jsonBody`",
                Stub(r#"{"response": {"jsonBody": {"a": 1}}}"#),
                "",
            ),
            (
                "`base64Body`",
                Stub(r#"{"response": {"base64Body": "AQID"}}"#),
                "",
            ),
            (
                "`bodyFileName`",
                Stub(
                    r#"{"response": {"bodyFileName": "{{request.path}}", "transformers": ["response-template"]}}"#,
                ),
                "a file that is missing is told when the mapping is loaded",
            ),
            (
                "`transformers`: `response-template`",
                Stub(
                    r#"{"response": {"transformers": ["response-template"], "body": "{{request.path}}"}}"#,
                ),
                "a template that cannot be run is refused when it is loaded",
            ),
            (
                "other `transformers`",
                Stub(r#"{"response": {"transformers": ["mine"]}}"#),
                "extensions in Java",
            ),
            (
                "`transformerParameters`",
                Stub(r#"{"response": {"transformerParameters": {"p": 1}}}"#),
                "",
            ),
            (
                "`fromConfiguredStub`",
                Stub(r#"{"response": {"fromConfiguredStub": true}}"#),
                "",
            ),
            (
                "`fixedDelayMilliseconds`",
                Stub(r#"{"response": {"fixedDelayMilliseconds": 5}}"#),
                "",
            ),
            (
                "`delayDistribution`: `type` `uniform`, `lower`, `upper`",
                Stub(
                    r#"{"response": {"delayDistribution": {"type": "uniform", "lower": 1, "upper": 2}}}"#,
                ),
                "whole milliseconds, exact with `--exact-delays`",
            ),
            (
                "`delayDistribution` `lognormal`: `median`, `sigma`, `maxValue`",
                Stub(
                    r#"{"response": {"delayDistribution": {"type": "lognormal", "median": 10, "sigma": 0.1, "maxValue": 20}}}"#,
                ),
                "as `uniform`",
            ),
            (
                "`delayDistribution` `fixed`: `milliseconds`",
                Stub(
                    r#"{"response": {"delayDistribution": {"type": "fixed", "milliseconds": 5}}}"#,
                ),
                "",
            ),
            (
                "`chunkedDribbleDelay`: `numberOfChunks`, `totalDuration`",
                Stub(
                    r#"{"response": {"chunkedDribbleDelay": {"numberOfChunks": 2, "totalDuration": 10}, "body": "xy"}}"#,
                ),
                "both numbers are needed",
            ),
            (
                "a template beside `chunkedDribbleDelay`",
                Stub(
                    r#"{"response": {"chunkedDribbleDelay": {"numberOfChunks": 2, "totalDuration": 10}, "body": "{{request.path}}", "transformers": ["response-template"]}}"#,
                ),
                "",
            ),
            (
                "`fault` `EMPTY_RESPONSE`",
                Stub(r#"{"response": {"fault": "EMPTY_RESPONSE"}}"#),
                "",
            ),
            (
                "`fault` `MALFORMED_RESPONSE_CHUNK`",
                Stub(r#"{"response": {"fault": "MALFORMED_RESPONSE_CHUNK"}}"#),
                "",
            ),
            (
                "`fault` `RANDOM_DATA_THEN_CLOSE`",
                Stub(r#"{"response": {"fault": "RANDOM_DATA_THEN_CLOSE"}}"#),
                "",
            ),
            (
                "`fault` `CONNECTION_RESET_BY_PEER`",
                Stub(r#"{"response": {"fault": "CONNECTION_RESET_BY_PEER"}}"#),
                "",
            ),
            (
                "`proxyBaseUrl`",
                Stub(r#"{"response": {"proxyBaseUrl": "http://localhost:1"}}"#),
                "to hosts that are allowed; what belongs to one connection is not passed on ([mock.md](mock.md#answers-of-other-servers))",
            ),
            (
                "`proxyUrlPrefixToRemove`",
                Stub(
                    r#"{"response": {"proxyBaseUrl": "http://localhost:1", "proxyUrlPrefixToRemove": "/a"}}"#,
                ),
                "",
            ),
            (
                "`additionalProxyRequestHeaders`",
                Stub(
                    r#"{"response": {"proxyBaseUrl": "http://localhost:1", "additionalProxyRequestHeaders": {"A": "1"}}}"#,
                ),
                "one value each",
            ),
            (
                "`removeProxyRequestHeaders`",
                Stub(
                    r#"{"response": {"proxyBaseUrl": "http://localhost:1", "removeProxyRequestHeaders": ["A"]}}"#,
                ),
                "",
            ),
        ],
    },
    Section {
        title: "Helpers of templates",
        rows: &[
            (
                "`if`, `else if`, `unless`",
                Template("{{#if a}}1{{else if b}}2{{/if}}{{#unless a}}3{{/unless}}"),
                "",
            ),
            (
                "`each`",
                Template("{{#each a as |b c|}}{{@index}}{{/each}}"),
                "",
            ),
            ("`with`", Template("{{#with a}}{{b}}{{/with}}"), ""),
            ("`lookup`", Template("{{lookup request.query 'a'}}"), ""),
            ("`assign`", Template("{{#assign 'a'}}b{{/assign}}"), ""),
            (
                "`eq`, `neq`, `gt`, `gte`, `lt`, `lte`",
                Template(
                    "{{#if (eq 1 2)}}{{/if}}{{neq 1 2}}{{gt 1 2}}{{gte 1 2}}{{lt 1 2}}{{lte 1 2}}",
                ),
                "",
            ),
            (
                "`and`, `or`, `not`",
                Template("{{and 1 2}}{{or 1 2}}{{not 1}}"),
                "",
            ),
            ("`contains`", Template("{{contains 'a' 'b'}}"), ""),
            (
                "`matches`",
                Template("{{matches 'a' 'b'}}"),
                "a regular expression that Java takes and this mock cannot run fails with 500",
            ),
            (
                "`jsonPath`",
                Template("{{jsonPath request.body '$.a'}}"),
                "",
            ),
            (
                "`parseJson`",
                Template("{{parseJson request.body 'a'}}"),
                "",
            ),
            (
                "`toJson`, `formatJson`",
                Template("{{toJson request.query}}{{formatJson '{}'}}"),
                "",
            ),
            ("`jsonMerge`", Template("{{jsonMerge '{}' '{}'}}"), ""),
            (
                "`jsonArrayAdd`, `jsonRemove`",
                Template("{{jsonArrayAdd '[]' '1'}}{{jsonRemove '{}' '$.a'}}"),
                "paths of names",
            ),
            (
                "`xPath`, `soapXPath`",
                Template("{{xPath request.body '/a'}}{{soapXPath request.body '/a'}}"),
                "",
            ),
            ("`formatXml`", Template("{{formatXml '<a/>'}}"), ""),
            (
                "`array`, `range`",
                Template("{{array 1 2}}{{range 1 2}}"),
                "",
            ),
            (
                "`arrayAdd`, `arrayRemove`, `arrayJoin`",
                Template(
                    "{{arrayAdd (array 1) 2}}{{arrayRemove (array 1)}}{{arrayJoin ',' (array 1)}}",
                ),
                "",
            ),
            (
                "`join`, `size`",
                Template("{{join 'a' 'b' ','}}{{size 'a'}}"),
                "",
            ),
            (
                "`pickRandom`",
                Template("{{pickRandom 1 2}}"),
                "from the mock's seed",
            ),
            (
                "`trim`, `upper`, `lower`, `capitalize`, `capitalizeFirst`",
                Template(
                    "{{trim 'a'}}{{upper 'a'}}{{lower 'a'}}{{capitalize 'a'}}{{capitalizeFirst 'a'}}",
                ),
                "as a block they change the text of the block",
            ),
            (
                "`substring`, `replace`, `cut`, `abbreviate`",
                Template(
                    "{{substring 'a' 0 1}}{{replace 'a' 'b' 'c'}}{{cut 'a' 'b'}}{{abbreviate 'abcdef' 5}}",
                ),
                "",
            ),
            (
                "`center`, `ljust`, `rjust`",
                Template("{{center 'a' size=3}}{{ljust 'a' size=3}}{{rjust 'a' size=3}}"),
                "",
            ),
            (
                "`wordWrap`, `stripTags`",
                Template("{{wordWrap 'a' 3}}{{stripTags 'a'}}"),
                "",
            ),
            (
                "`defaultIfEmpty`, `slugify`, `yesno`",
                Template("{{defaultIfEmpty '' 'a'}}{{slugify 'a b'}}{{yesno true}}"),
                "",
            ),
            (
                "`regexExtract`",
                Template("{{regexExtract 'a' 'a'}}"),
                "as `matches`",
            ),
            (
                "`base64`, `urlEncode`",
                Template("{{base64 'a'}}{{urlEncode 'a'}}"),
                "",
            ),
            ("`formData`", Template("{{formData request.body 'a'}}"), ""),
            ("`val`", Template("{{val 'a' assign='b'}}"), ""),
            ("`math`", Template("{{math 1 '+' 2}}"), ""),
            ("`numberFormat`", Template("{{numberFormat 1}}"), ""),
            ("`stringFormat`", Template("{{stringFormat 'a'}}"), ""),
            (
                "`now`, `date`, `parseDate`, `truncateDate`",
                Template(
                    "{{now}}{{date (parseDate '2026-01-01')}}{{truncateDate (now) 'first day of month'}}",
                ),
                "",
            ),
            ("`dateFormat`", Template("{{dateFormat (now) 'yyyy'}}"), ""),
            (
                "`randomValue`, `randomInt`, `randomDecimal`",
                Template("{{randomValue type='UUID'}}{{randomInt}}{{randomDecimal}}"),
                "from the mock's seed",
            ),
            ("`hostname`", Template("{{hostname}}"), ""),
            (
                "`systemValue`",
                Template("{{systemValue key='A'}}"),
                "always denied",
            ),
            (
                "`partial`, `block`, `embedded`, `include`, `precompile`, `i18n`",
                Template("{{include 'a'}}"),
                "there are no templates beside a mapping's own",
            ),
        ],
    },
    Section {
        title: "The admin API",
        rows: &[
            ("`GET /__admin/`", Route("GET", "/"), ""),
            ("`GET /__admin/mappings`", Route("GET", "/mappings"), ""),
            ("`POST /__admin/mappings`", Route("POST", "/mappings"), ""),
            (
                "`DELETE /__admin/mappings`",
                Route("DELETE", "/mappings"),
                "files stay where they are",
            ),
            (
                "`POST /__admin/mappings/reset`",
                Route("POST", "/mappings/reset"),
                "refused as a whole if a file has a problem",
            ),
            (
                "`POST /__admin/mappings/save`",
                Route("POST", "/mappings/save"),
                "",
            ),
            (
                "`POST /__admin/mappings/import`",
                Route("POST", "/mappings/import"),
                "as a whole or not at all",
            ),
            (
                "`POST /__admin/mappings/remove`",
                Route("POST", "/mappings/remove"),
                "",
            ),
            (
                "`POST /__admin/mappings/edit`",
                Route("POST", "/mappings/edit"),
                "",
            ),
            (
                "`POST /__admin/mappings/find-by-metadata`",
                Route("POST", "/mappings/find-by-metadata"),
                "",
            ),
            (
                "`POST /__admin/mappings/remove-by-metadata`",
                Route("POST", "/mappings/remove-by-metadata"),
                "",
            ),
            (
                "`GET /__admin/mappings/unmatched`",
                Route("GET", "/mappings/unmatched"),
                "exact even if the journal has dropped requests",
            ),
            (
                "`DELETE /__admin/mappings/unmatched`",
                Route("DELETE", "/mappings/unmatched"),
                "",
            ),
            (
                "`GET /__admin/mappings/{id}`",
                Route("GET", "/mappings/{id}"),
                "",
            ),
            (
                "`PUT /__admin/mappings/{id}`",
                Route("PUT", "/mappings/{id}"),
                "",
            ),
            (
                "`DELETE /__admin/mappings/{id}`",
                Route("DELETE", "/mappings/{id}"),
                "",
            ),
            (
                "`POST /__admin/reset`",
                Route("POST", "/reset"),
                "as `/mappings/reset`",
            ),
            (
                "`GET /__admin/requests`",
                Route("GET", "/requests"),
                "of `timing` only the delay that was asked for; of `subEvents` webhooks, what patterns could not read of a body, and the table of differences where one was made",
            ),
            (
                "`DELETE /__admin/requests`",
                Route("DELETE", "/requests"),
                "",
            ),
            (
                "`GET /__admin/requests/{id}`",
                Route("GET", "/requests/{id}"),
                "",
            ),
            (
                "`DELETE /__admin/requests/{id}`",
                Route("DELETE", "/requests/{id}"),
                "",
            ),
            (
                "`POST /__admin/requests/count`",
                Route("POST", "/requests/count"),
                "",
            ),
            (
                "`POST /__admin/requests/find`",
                Route("POST", "/requests/find"),
                "",
            ),
            (
                "`POST /__admin/requests/remove`",
                Route("POST", "/requests/remove"),
                "",
            ),
            (
                "`POST /__admin/requests/remove-by-metadata`",
                Route("POST", "/requests/remove-by-metadata"),
                "",
            ),
            (
                "`GET /__admin/requests/unmatched`",
                Route("GET", "/requests/unmatched"),
                "",
            ),
            (
                "`GET /__admin/requests/unmatched/near-misses`",
                Route("GET", "/requests/unmatched/near-misses"),
                "of many requests only the newest",
            ),
            (
                "`POST /__admin/near-misses/request`",
                Route("POST", "/near-misses/request"),
                "",
            ),
            (
                "`POST /__admin/near-misses/request-pattern`",
                Route("POST", "/near-misses/request-pattern"),
                "",
            ),
            ("`GET /__admin/scenarios`", Route("GET", "/scenarios"), ""),
            (
                "`POST /__admin/scenarios/reset`",
                Route("POST", "/scenarios/reset"),
                "",
            ),
            (
                "`PUT /__admin/scenarios/{name}/state`",
                Route("PUT", "/scenarios/{name}/state"),
                "names may be encoded",
            ),
            ("`GET /__admin/settings`", Route("GET", "/settings"), ""),
            ("`POST /__admin/settings`", Route("POST", "/settings"), ""),
            ("`PUT /__admin/settings`", Route("PUT", "/settings"), ""),
            (
                "`PATCH /__admin/settings/extended`",
                Route("PATCH", "/settings/extended"),
                "",
            ),
            ("`GET /__admin/files`", Route("GET", "/files"), ""),
            (
                "`GET /__admin/files/{path}`",
                Route("GET", "/files/{path}"),
                "",
            ),
            (
                "`PUT /__admin/files/{path}`",
                Route("PUT", "/files/{path}"),
                "",
            ),
            (
                "`DELETE /__admin/files/{path}`",
                Route("DELETE", "/files/{path}"),
                "",
            ),
            (
                "`POST /__admin/recordings/start`",
                Route("POST", "/recordings/start"),
                "made of what the journal has ([mock.md](mock.md#recording))",
            ),
            (
                "`POST /__admin/recordings/stop`",
                Route("POST", "/recordings/stop"),
                "made of what the journal has ([mock.md](mock.md#recording))",
            ),
            (
                "`GET /__admin/recordings/status`",
                Route("GET", "/recordings/status"),
                "",
            ),
            (
                "`POST /__admin/recordings/snapshot`",
                Route("POST", "/recordings/snapshot"),
                "made of what the journal has ([mock.md](mock.md#recording))",
            ),
            (
                "`GET /__admin/recorder`",
                Route("GET", "/recorder"),
                "WireMock's page for recording",
            ),
            (
                "`GET /__admin/health`",
                Route("GET", "/health"),
                "Plimsoll's version",
            ),
            (
                "`GET /__admin/version`",
                Route("GET", "/version"),
                "Plimsoll's version",
            ),
            (
                "`GET /__admin/metrics`",
                Route("GET", "/metrics"),
                "WireMock has none; Prometheus' text",
            ),
            (
                "`GET /__admin/docs`",
                Route("GET", "/docs"),
                "a list of routes",
            ),
            (
                "`GET /__admin/docs/swagger`",
                Route("GET", "/docs/swagger"),
                "",
            ),
            (
                "`GET /__admin/certs/wiremock-ca.crt`",
                Route("GET", "/certs/wiremock-ca.crt"),
                "",
            ),
            (
                "`POST /__admin/shutdown`",
                Route("POST", "/shutdown"),
                "as a signal does",
            ),
        ],
    },
    Section {
        title: "HTTP, TLS and gzip",
        rows: &[
            (
                "HTTP/1.1 and 1.0: kept connections",
                Test("serving", "connections_persist_as_the_client_wishes"),
                "answers carry `Content-Length` and are never chunked",
            ),
            (
                "pipelined requests",
                Test("serving", "pipelined_requests_are_answered_in_order"),
                "",
            ),
            (
                "`Expect: 100-continue`",
                Test("serving", "a_client_that_waits_for_leave_gets_it"),
                "",
            ),
            (
                "HTTPS beside HTTP",
                Test("secured", "stubs_templates_and_the_journal_see_the_scheme"),
                "TLS 1.2 and 1.3; PEM files in place of keystores; without them a certificate made at the start ([mock.md](mock.md#tls))",
            ),
            (
                "client certificates that are required",
                Test(
                    "secured",
                    "only_clients_with_a_certificate_are_served_if_it_is_required",
                ),
                "authorities in a PEM file in place of a truststore",
            ),
            (
                "the admin API over TLS alone",
                Test("secured", "the_admin_api_may_be_for_tls_alone"),
                "",
            ),
            (
                "HTTP/2 over TLS (ALPN) and in clear (prior knowledge)",
                Test("http2", "stubs_the_journal_and_the_admin_api_are_the_same"),
                "bounds on streams, and on what a client that takes nothing may hold ([mock.md](mock.md#http2))",
            ),
            (
                "HTTP/2 in clear by `Upgrade: h2c`",
                Absent,
                "such a request is answered in HTTP/1.1",
            ),
            (
                "faults over TLS and HTTP/2",
                Test("http2", "cuts_end_their_stream_and_faults_their_connection"),
                "",
            ),
            (
                "answers packed with gzip for who accepts it",
                Test("packing", "who_accepts_gzip_gets_it"),
                "a constant answer is packed once",
            ),
            (
                "requests packed with gzip",
                Stub(r#"{"request": {"bodyPatterns": [{"equalTo": "hello"}]}}"#),
                "unpacked for matching, up to 1 MiB and 16 times their length, at most 10 MiB; not the parts of a multipart body",
            ),
            (
                "answers in chunks (`Transfer-Encoding: chunked`)",
                Absent,
                "answers carry `Content-Length`",
            ),
            (
                "CORS headers on stubs' answers",
                Test(
                    "refusing",
                    "pages_may_read_what_stubs_answer_where_that_is_asked_for",
                ),
                "with `Vary: Origin`, and in the place of the stub's own",
            ),
            (
                "browser proxying, certificates made for each host",
                Absent,
                "`--proxy-all` and `proxyBaseUrl` send requests on",
            ),
            (
                "extensions in Java: transformers, matchers, listeners, helpers",
                Absent,
                "refused by name where a mapping asks for one",
            ),
        ],
    },
];
