import { expect, test } from "vitest";
import { oneArray, target } from "./clusters.ts";
import { Stage } from "./stage.ts";

const DAY = 86_400;

test("a cluster whose status never answers does not delay another's observation or its nodes", async () => {
  const [quick] = oneArray("quick").clusters;
  const [silent] = oneArray("silent").clusters;
  if (quick === undefined || silent === undefined) throw new Error("each has one cluster");
  const stage = new Stage({
    simulator: { ...oneArray("quick"), clusters: [silent, quick] },
    between: (send) => (request) =>
      request.path.startsWith("/clusters/silent/") ? new Promise(() => undefined) : send(request),
  });
  await stage.during(stage.push(target("quick", 5, { expirationInterval: DAY })));
  await stage.pass(3600);

  const looks = stage.eventsOf("status-read").map(({ at }) => at / 1000);
  const gaps = looks.slice(1).map((at, index) => at - (looks[index] ?? at));
  expect(stage.readyNodes).toHaveLength(5);
  expect(looks.length).toBeGreaterThanOrEqual(60);
  expect(Math.max(...gaps)).toBeLessThanOrEqual(60);
});
