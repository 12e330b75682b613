// npm's `wiremock-captain` against a mock: every call of its interface. A line for each step: "ok NAME" or "failed NAME: why".
//
// CLIENTS=…/node_modules node drive.cjs PORT

const { createRequire } = require('node:module');
const { strictEqual: same } = require('node:assert');
const { WireMock, WireMockAPI, BodyType, DelayType, EndpointFeature, MatchingAttributes } = createRequire(process.env.CLIENTS + '/')('wiremock-captain');

const base = `http://127.0.0.1:${process.argv[2]}`;
const mock = new WireMock(base);

const ask = async (path, options = {}) => {
  const answer = await fetch(base + path, options);
  return [answer.status, await answer.text()];
};

const steps = {
  async register() {
    const made = await mock.register({ method: 'GET', endpoint: '/hello' }, { status: 200, body: { hi: true } });
    const [status, body] = await ask('/hello');
    same(status, 200);
    same(JSON.parse(body).hi, true);
    same((await mock.getMapping(made.id)).request.method, 'GET');
    same((await mock.getAllMappings()).length, 1);
    await mock.deleteMapping(made.id);
    same((await ask('/hello'))[0], 404);
  },
  async matching() {
    await mock.register(
      { method: 'POST', endpoint: '/match', body: { a: 1 }, headers: { 'X-A': 'b' }, queryParameters: { q: '1' } },
      { status: 201, body: {}, headers: { 'X-B': 'c' } },
      {
        requestEndpointFeature: EndpointFeature.UrlPath,
        requestBodyFeature: MatchingAttributes.EqualToJson,
        requestHeaderFeatures: { 'X-A': MatchingAttributes.Contains },
        requestQueryParamFeatures: { q: MatchingAttributes.EqualTo },
      },
    );
    const headers = { 'X-A': 'abc', 'Content-Type': 'application/json' };
    same((await ask('/match?q=1', { method: 'POST', headers, body: '{"a": 1}' }))[0], 201);
    same((await ask('/match?q=2', { method: 'POST', headers, body: '{"a": 1}' }))[0], 404);
  },
  async text() {
    await mock.register({ method: 'GET', endpoint: '/text' }, { status: 200, body: 'plain' }, { responseBodyType: BodyType.Body });
    same((await ask('/text'))[1], 'plain');
  },
  async delays() {
    const delay = { type: DelayType.FIXED, constantDelay: 20 };
    await mock.register({ method: 'GET', endpoint: '/slow' }, { status: 200, body: {} }, { responseDelay: delay });
    same((await ask('/slow'))[0], 200);
  },
  async priorities() {
    const request = { method: 'GET', endpoint: '/p' };
    await mock.register(request, { status: 201, body: {} }, { stubPriority: 1 });
    await mock.register(request, { status: 202, body: {} }, { stubPriority: 2 });
    same((await ask('/p'))[0], 201);
  },
  async scenarios() {
    const request = { method: 'GET', endpoint: '/s' };
    const scenario = (from, to) => ({ scenario: { scenarioName: 'door', requiredScenarioState: from, newScenarioState: to } });
    await mock.register(request, { status: 201, body: {} }, scenario('Started', 'open'));
    await mock.register(request, { status: 202, body: {} }, scenario('open', 'Started'));
    same((await ask('/s'))[0], 201);
    same((await ask('/s'))[0], 202);
    same((await mock.getAllScenarios()).length, 1);
    await mock.resetAllScenarios();
    same((await ask('/s'))[0], 201);
  },
  async requests() {
    await mock.register({ method: 'GET', endpoint: '/r' }, { status: 200, body: {} });
    await ask('/r');
    await ask('/unknown');
    same((await mock.getRequestsForAPI('GET', '/r')).length, 1);
    same((await mock.getAllRequests()).length, 2);
    same((await mock.getUnmatchedRequests()).length, 1);
    await mock.clearAllRequests();
    same((await mock.getAllRequests()).length, 0);
  },
  async api() {
    const api = new WireMockAPI(base, '/api', 'GET');
    await api.register({}, { status: 200, body: { of: 'api' } });
    same(JSON.parse((await ask('/api'))[1]).of, 'api');
    same((await api.getRequestsForAPI()).length, 1);
  },
  async clearing() {
    await mock.register({ method: 'GET', endpoint: '/c' }, { status: 200, body: {} });
    await mock.clearAllExceptDefault();
    same((await mock.getAllMappings()).length, 0);
    await mock.clearAllMappings();
  },
};

(async () => {
  let failed = false;
  for (const [name, step] of Object.entries(steps)) {
    try {
      await mock.clearAll();
      await step();
      console.log(`ok ${name}`);
    } catch (error) {
      failed = true;
      console.log(`failed ${name}: ${error}`.replaceAll('\n', ' '));
    }
  }
  process.exit(failed ? 1 : 0);
})();
