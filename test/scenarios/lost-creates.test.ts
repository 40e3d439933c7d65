import { describe, expect, test } from "vitest";
import type { Answer, TransportRequest } from "../../src/adapters/cyclecloud/transport.ts";
import { PortError } from "../../src/app/ports/port-error.ts";
import { oneArray, target } from "./clusters.ts";
import type { Send } from "./stage-options.ts";
import { ORIGIN } from "./stage-options.ts";
import { Stage } from "./stage.ts";

const CREATE = "/clusters/demo/nodes/create";
const DAY = 86_400;
const isCreate = ({ path }: TransportRequest): boolean => path === CREATE;
const isOperations = ({ path }: TransportRequest): boolean => path === "/operations/";
const isRequestNodes = ({ path, query }: TransportRequest): boolean =>
  path === "/clusters/demo/nodes" && "request_id" in query;

const HTTP_500: Answer = { status: 500, headers: {}, body: undefined };
const HTTP_403: Answer = { status: 403, headers: {}, body: undefined };
const LOGIN_PAGE: Answer = { status: 200, headers: {}, body: "<html>login</html>" };
const REFUSED: Answer = { status: 409, headers: {}, body: "Invalid" };

/** Demand for `count` nodes 10 s after the start. */
async function ask(stage: Stage, count: number): Promise<void> {
  await stage.pass(10);
  stage.send(target("demo", count, { expirationInterval: DAY }));
}

const secondsOf = (stage: Stage) =>
  stage.eventsOf("node-created").map(({ at }) => Math.round((at - ORIGIN) / 1000) - 10);

test("a create that was granted in part and whose answer was lost: the rest is asked of the other size within three minutes", async () => {
  let isCut = false;
  const capacity = { Standard_F4s_v2: 4 };
  const stage = new Stage({
    simulator: oneArray("demo", { machineTypes: ["Standard_F4s_v2", "Standard_D4s_v5"], capacity }),
    between: (send) => async (request) => {
      const answer = await send(request);
      if (!isCreate(request) || isCut) return answer;
      isCut = true;
      throw new PortError("unreachable", "create", "cut");
    },
  });
  await ask(stage, 10);
  await stage.pass(300);
  const [first, ...more] = stage.eventsOf("create-accepted");
  expect(first?.added).toBe(4);
  expect(more.map(({ added }) => added)).toEqual([6]);
  expect(Math.max(...secondsOf(stage))).toBeLessThanOrEqual(180);
});

describe("one create request is lost, and from then on", () => {
  /** The first create is lost; `broken` requests always get this answer. */
  const after = (broken: (request: TransportRequest) => boolean, answer: Answer) => {
    let isLost = false;
    return (send: Send): Send =>
      async (request) => {
        if (isCreate(request) && !isLost) {
          isLost = true;
          throw new PortError("unreachable", "create", "cut before it came");
        }
        return broken(request) ? answer : send(request);
      };
  };

  test.each([
    { name: "answers 500", answer: HTTP_500 },
    { name: "answers 403", answer: HTTP_403 },
    { name: "shows a login page", answer: LOGIN_PAGE },
  ])("/operations/ $name for ever: the nodes are created within a minute", async ({ answer }) => {
    const stage = new Stage({ simulator: oneArray("demo"), between: after(isOperations, answer) });
    await ask(stage, 5);
    await stage.pass(600);
    expect(secondsOf(stage)).toHaveLength(5);
    expect(Math.max(...secondsOf(stage))).toBeLessThanOrEqual(60);
  });

  test("nobody says what became of a request, and no create is accepted under its id: it ends 15 minutes after its commit", async () => {
    const broken = (request: TransportRequest) => isOperations(request) || isRequestNodes(request);
    const ids = new Set<string>();
    const stage = new Stage({
      simulator: oneArray("demo"),
      between: (send) => {
        const rest = after(broken, HTTP_500)(send);
        return async (request) => {
          const id = requestIdIn(request);
          if (id === undefined) return rest(request);
          ids.add(id);
          // Only a create with a new id succeeds.
          if (ids.size === 1) throw new PortError("unreachable", "create", "cut before it came");
          return rest(request);
        };
      },
    });
    await ask(stage, 5);
    await stage.pass(880);
    expect(ids.size).toBe(1);
    await stage.pass(90);
    expect(ids.size).toBe(2);
    expect(secondsOf(stage)).toHaveLength(5);
  });
});

function requestIdIn({ path, body }: TransportRequest): string | undefined {
  return path === CREATE && body instanceof Object ? String(Reflect.get(body, "requestId")) : undefined;
}

test("a create is refused with 409 and its host dies before it can ask: another size serves the demand within 150 s", async () => {
  let isDead = false;
  const stage = new Stage({
    simulator: oneArray("demo", { machineTypes: ["Standard_F4s_v2", "Standard_D4s_v5"] }),
    between: (send) => async (request) => {
      if (isCreate(request) && JSON.stringify(request.body).includes("Standard_F4s_v2")) {
        if (isDead) return REFUSED;
        isDead = true;
        return new Promise(() => undefined);
      }
      return send(request);
    },
  });
  await ask(stage, 3);
  await stage.pass(150);
  expect(stage.eventsOf("node-created").map(({ machineType }) => machineType)).toEqual([
    "Standard_D4s_v5",
    "Standard_D4s_v5",
    "Standard_D4s_v5",
  ]);
});

describe("changes and questions take 40 s each", () => {
  test.each([3, 8, 16])("%i arrays: all nodes are asked for in one request", async (count) => {
    const [only] = oneArray("demo").clusters;
    const [array] = only?.arrays ?? [];
    if (only === undefined || array === undefined) throw new Error("one cluster with one array");
    const names = Array.from({ length: count }, (_, index) => `a${index}`);
    const arrays = names.map((name) => ({ ...array, name }));
    const stage = new Stage({
      simulator: { ...oneArray("demo"), clusters: [{ ...only, arrays }] },
      between: (send, clock) => async (request) => {
        const isSlow = request.method === "POST" || isOperations(request);
        if (isSlow) await clock.sleep(20_000);
        const answer = await send(request);
        if (isSlow) await clock.sleep(20_000);
        return answer;
      },
    });
    await stage.pass(10);
    const nodearrays = names.map((Name) => ({ Name, TargetCount: 2 }));
    stage.send({ version: 1, cluster: "demo", expirationInterval: DAY, nodearrays });
    await stage.pass(600);
    expect(stage.sent.filter(({ path }) => path === CREATE)).toHaveLength(1);
    expect(stage.eventsOf("node-created")).toHaveLength(2 * count);
    expect(stage.readyNodes).toHaveLength(2 * count);
    expect(Math.max(...secondsOf(stage))).toBeLessThanOrEqual(60);
  });
});
