import { expect, test } from "vitest";
import type { Answer, TransportRequest } from "../../src/adapters/cyclecloud/transport.ts";
import { oneArray, target } from "./clusters.ts";
import { Stage } from "./stage.ts";

const CREATE = "/clusters/demo/nodes/create";
const CALLBACK = expect.stringContaining("http://autoscaler.invalid/api/autostop/demo/");

/** The first create is lost, and its sender gets no answer. From then on the template has `later` in place of `first`. */
async function lostCreate(first: string, later: string, meet?: (path: string) => Answer | undefined) {
  const asked: TransportRequest[] = [];
  let isLost = false;
  const stage = new Stage({
    simulator: oneArray("demo", { configuration: { cyclecloud: { mount: first } } }),
    between: (send) => async (request) => {
      if (request.path === CREATE && !isLost) {
        isLost = true;
        asked.push(request);
        return new Promise(() => undefined);
      }
      if (isLost) asked.push(request);
      const met = isLost ? meet?.(request.path) : undefined;
      if (met !== undefined) return met;
      const answer = await send(request);
      if (!isLost || !request.path.endsWith("/status")) return answer;
      const body: unknown = JSON.parse(JSON.stringify(answer.body).replaceAll(first, later));
      return { ...answer, body };
    },
  });
  stage.send(target("demo", 2));
  await stage.pass(70);
  return { stage, asked };
}

const bodiesOf = (asked: readonly TransportRequest[]) =>
  asked.filter(({ path }) => path === CREATE).map(({ body }) => body);

const bodyWith = (id: unknown, mount: string) => ({
  requestId: id,
  sets: [
    {
      count: 2,
      nodearray: "execute",
      definition: { machineType: "Standard_F4s_v2" },
      nodeAttributes: {
        Configuration: {
          cyclecloud: { mount, cluster: { autoscale: { stop_callback: CALLBACK } } },
          autoscale: { stop_callback: CALLBACK },
        },
      },
    },
  ],
});

test("whoever takes a create over sends what the template says in a status that it has read itself, under the same id", async () => {
  const { stage, asked } = await lostCreate("/mnt/first", "/mnt/later");
  const [first, second, ...more] = bodiesOf(asked);
  expect(first).toEqual(bodyWith(expect.any(String), "/mnt/first"));
  const id: unknown = first instanceof Object ? Reflect.get(first, "requestId") : undefined;
  expect(second).toEqual(bodyWith(id, "/mnt/later"));
  expect(more).toEqual([]);
  // The first create. Then one status, what is known of its id (from two sources), and the create again.
  expect(asked.slice(1, 6).map(({ path }) => path)).toEqual([
    "/clusters/demo/status",
    "/clusters/demo/nodes",
    "/operations/",
    "/clusters/demo/nodes",
    CREATE,
  ]);
  await stage.pass(300);
  expect(stage.eventsOf("node-created")).toHaveLength(2);
  expect(stage.readyNodes).toHaveLength(2);
});

test("while no status can be read, nothing is sent again", async () => {
  let isAway = true;
  const away: Answer = { status: 500, headers: {}, body: undefined };
  const { stage, asked } = await lostCreate("/mnt/first", "/mnt/later", (path) =>
    isAway && path.endsWith("/status") ? away : undefined,
  );
  expect(bodiesOf(asked)).toHaveLength(1);
  isAway = false;
  await stage.pass(300);
  expect(bodiesOf(asked)[1]).toEqual(bodyWith(expect.any(String), "/mnt/later"));
  expect(stage.eventsOf("node-created")).toHaveLength(2);
});
