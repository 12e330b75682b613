// Drives a server with npm's toxiproxy-node-client and observes each effect through the proxy.
// Usage: node client.js HOST:PORT
"use strict";

const assert = require("node:assert/strict");
const net = require("node:net");
const { performance } = require("node:perf_hooks");
const { Toxiproxy } = require("toxiproxy-node-client");

const PATIENCE = 10_000;
let failures = 0;

/** A server on an ephemeral port that sends back what it gets; `receivedFrom` resolves once a connection that began so has ended. */
class Echo {
  static async start() {
    const echo = new Echo();
    echo.ended = [];
    echo.waiting = [];
    echo.server = net.createServer({ allowHalfOpen: true }, (connection) => echo.serve(connection));
    await new Promise((resolve) => echo.server.listen(0, "127.0.0.1", resolve));
    echo.address = `127.0.0.1:${echo.server.address().port}`;
    return echo;
  }

  serve(connection) {
    let received = "";
    connection.on("data", (data) => {
      received += data;
      connection.write(data);
    });
    connection.on("end", () => connection.end());
    connection.on("error", () => {});
    connection.on("close", () => {
      this.ended.push(received);
      this.waiting.forEach((look) => look());
    });
  }

  receivedFrom(first) {
    return new Promise((resolve) => {
      const look = () => {
        const found = this.ended.find((received) => received.startsWith(first));
        if (found === undefined) return;
        this.ended = this.ended.filter((received) => received !== found);
        this.waiting = this.waiting.filter((other) => other !== look);
        resolve(found);
      };
      this.waiting.push(look);
      look();
    });
  }
}

/** Sends, closes its half if `finish`, and reads until `expected` bytes are there, or to the end. */
function exchange(listen, sent, { expected = Infinity, finish = false } = {}) {
  const [host, port] = listen.split(":");
  const start = performance.now();
  return new Promise((resolve) => {
    let data = "";
    const connection = net.connect({ host, port, allowHalfOpen: true, timeout: PATIENCE });
    const settle = (end) => {
      resolve({ data, end, milliseconds: performance.now() - start });
      connection.destroy();
    };
    connection.on("connect", () => (finish ? connection.end(sent) : connection.write(sent)));
    connection.on("data", (piece) => {
      data += piece;
      if (data.length >= expected) settle("open");
    });
    connection.on("end", () => settle("closed"));
    connection.on("error", (error) => settle(error.code));
    connection.on("timeout", () => settle("silent"));
  });
}

async function check(name, act) {
  try {
    await act();
    console.log(`ok ${name}`);
  } catch (error) {
    failures += 1;
    console.log(`FAILED ${name}: ${error.message.replaceAll("\n", " ").slice(0, 300)}`);
  }
}

function expect(condition, seen) {
  assert.ok(condition, `saw ${JSON.stringify(seen)}`);
}

async function withToxic(proxy, type, stream, attributes, act, toxicity = 1) {
  const toxic = await proxy.addToxic({ name: `${type}_${stream}`, type, stream, toxicity, attributes });
  try {
    await act(toxic);
  } finally {
    await toxic.remove();
  }
}

async function passes(proxy) {
  const seen = await exchange(proxy.listen, "through", { expected: 7 });
  expect(seen.data === "through", seen);
}

async function checkToxics(proxy, echo, stream) {
  const checkToxic = (type, attributes, act) =>
    check(`${type} ${stream}`, () => withToxic(proxy, type, stream, attributes, act));

  await checkToxic("latency", { latency: 100, jitter: 0 }, async () => {
    const seen = await exchange(proxy.listen, "late", { expected: 4 });
    expect(seen.data === "late" && seen.milliseconds >= 100, seen);
  });

  await checkToxic("bandwidth", { rate: 20 }, async () => {
    const seen = await exchange(proxy.listen, "b".repeat(4000), { expected: 4000 });
    expect(seen.data.length === 4000 && seen.milliseconds >= 200, seen);
  });

  await checkToxic("slow_close", { delay: 200 }, async () => {
    const seen = await exchange(proxy.listen, "", { finish: true });
    expect(seen.end === "closed" && seen.milliseconds >= 200, seen);
  });

  await checkToxic("timeout", { timeout: 200 }, async () => {
    const seen = await exchange(proxy.listen, "lost");
    expect(seen.data === "" && ["closed", "ECONNRESET"].includes(seen.end) && seen.milliseconds >= 200, seen);
  });

  await checkToxic("reset_peer", { timeout: 100 }, async () => {
    const seen = await exchange(proxy.listen, "lost");
    expect(seen.end === "ECONNRESET" && seen.milliseconds >= 100, seen);
  });

  // 1000 bytes in pieces of at most 100 are at least ten pieces, hence nine delays of 10 ms.
  await checkToxic("slicer", { average_size: 100, size_variation: 0, delay: 10_000 }, async () => {
    const sent = "0123456789".repeat(100);
    const seen = await exchange(proxy.listen, sent, { expected: 1000 });
    expect(seen.data === sent && seen.milliseconds >= 90, seen);
  });

  await checkToxic("limit_data", { bytes: 10 }, async () => {
    const seen = await exchange(proxy.listen, `limit of data in ${stream}`);
    const received = await echo.receivedFrom("limit");
    const passed = stream === "upstream" ? received : seen.data;
    expect(passed === "limit of d" && ["closed", "ECONNRESET"].includes(seen.end), { received, ...seen });
  });

  await check(`toxicity 0 ${stream}, then updated ${stream}`, () =>
    withToxic(proxy, "limit_data", stream, { bytes: 10 }, async (toxic) => {
      const spared = await exchange(proxy.listen, "t".repeat(25), { expected: 25 });
      expect(spared.data.length === 25, spared);

      await toxic.update({ ...toxic.toJson(), toxicity: 1, attributes: { bytes: 20 } });
      const found = await proxy.getToxic(toxic.name);
      expect(found.toxicity === 1 && found.attributes.bytes === 20, found.toJson());
      const seen = await exchange(proxy.listen, `updated to a limit in ${stream}`);
      const received = await echo.receivedFrom("updated");
      const passed = stream === "upstream" ? received : seen.data;
      expect(passed === "updated to a limit i", { received, ...seen });
    }, 0));
}

async function main(server) {
  const toxiproxy = new Toxiproxy(`http://${server}`);
  const echo = await Echo.start();
  const other = await Echo.start();
  const names = ["node", "node_populated_1", "node_populated_2"];
  const left = await toxiproxy.getAll();
  for (const name of names) await left[name]?.remove();
  let proxy;

  await check("version", async () => assert.match(await toxiproxy.getVersion(), /version/));

  await check("create", async () => {
    proxy = await toxiproxy.createProxy({ name: "node", listen: "127.0.0.1:0", upstream: echo.address });
    expect(proxy.enabled && !proxy.listen.endsWith(":0"), proxy.toJson());
    await passes(proxy);
  });

  await check("list and get", async () => {
    assert.deepEqual((await toxiproxy.get("node")).toJson(), proxy.toJson());
    assert.deepEqual((await toxiproxy.getAll()).node.toJson(), proxy.toJson());
  });

  await checkToxics(proxy, echo, "upstream");
  await checkToxics(proxy, echo, "downstream");

  await check("disable and enable", async () => {
    const { listen, upstream } = proxy;
    await proxy.update({ enabled: false, listen, upstream });
    const seen = await exchange(listen, "");
    expect(seen.end === "ECONNREFUSED", seen);
    await proxy.update({ enabled: true, listen, upstream });
    await passes(proxy);
  });

  await check("update of the upstream", async () => {
    const { listen } = proxy;
    const updated = await proxy.update({ enabled: true, listen, upstream: other.address });
    expect(updated.upstream === other.address, updated.toJson());
    await exchange(updated.listen, "moved", { finish: true });
    await other.receivedFrom("moved");
    proxy = await updated.update({ enabled: true, listen, upstream: echo.address });
  });

  await check("reset", async () => {
    const attributes = { bytes: 1 };
    await proxy.addToxic({ name: "forgotten", type: "limit_data", stream: "downstream", toxicity: 1, attributes });
    await proxy.update({ enabled: false, listen: proxy.listen, upstream: proxy.upstream });
    await toxiproxy.reset();
    await assert.rejects(proxy.getToxic("forgotten"), /404/);
    await passes(proxy);
  });

  await check("populate", async () => {
    const upstream = echo.address;
    const populated = await toxiproxy.populate(names.slice(1).map((name) => ({ name, listen: "127.0.0.1:0", upstream })));
    assert.deepEqual(Object.keys(populated), names.slice(1));
    for (const each of Object.values(populated)) {
      await passes(each);
      await each.remove();
    }
  });

  await check("refusals", async () => {
    const toxic = { name: "a", type: "unknown", stream: "upstream", toxicity: 1, attributes: {} };
    await assert.rejects(proxy.addToxic(toxic), /400/);
    await assert.rejects(toxiproxy.createProxy({ name: "node", listen: "127.0.0.1:0", upstream: "x:1" }), /409/);
    await assert.rejects(toxiproxy.get("absent"), /404/);
  });

  await check("delete", async () => {
    await proxy.remove();
    await assert.rejects(toxiproxy.get("node"), /404/);
    const seen = await exchange(proxy.listen, "");
    expect(seen.end === "ECONNREFUSED", seen);
  });

  process.exit(failures > 0 ? 1 : 0);
}

main(process.argv[2]);
