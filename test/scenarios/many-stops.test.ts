import { expect, test } from "vitest";
import { oneArray, target } from "./clusters.ts";
import type { Told } from "./hosts-stage.ts";
import { HostsStage } from "./hosts-stage.ts";

const DAY = { expirationInterval: 86_400 };

test("600 nodes ask at once and a stop takes 14 s: two requests go side by side, and all hear 200", async () => {
  const sizes: number[] = [];
  const stage = new HostsStage({
    simulator: oneArray("demo"),
    between: (send, clock) => async (request) => {
      if (!request.path.endsWith("/terminate")) return send(request);
      const { body } = request;
      if (typeof body === "object" && body !== null && "ids" in body && Array.isArray(body.ids))
        sizes.push(body.ids.length);
      await clock.sleep(14_000);
      return send(request);
    },
  });
  stage.push(target("demo", 600, DAY));
  await stage.pass(200);
  expect(stage.readyNodes).toHaveLength(600);
  stage.push(target("demo", 0, DAY));
  await stage.pass(60);
  const told: Told[] = [];
  for (const node of stage.readyNodes)
    void stage.ask(node, stage.hosts[0]).then((answer) => told.push(answer));
  await stage.pass(15);
  expect(sizes).toEqual([500, 100]);
  expect(told.filter(({ status }) => status === 200)).toHaveLength(600);
  expect(stage.count("terminate-accepted")).toBe(600);
});
