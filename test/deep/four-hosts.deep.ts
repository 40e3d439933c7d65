import { expect, test } from "vitest";
import { stopThroughHosts } from "../scenarios/stop-through-hosts.ts";

test("eighty nodes ask to stop at once, through two host processes, when 20 are needed: never more than 60 go, and exactly 60 within two rounds", async () => {
  const { rounds, terminated, created } = await stopThroughHosts({ hosts: 2, nodes: 80, needed: 20 });
  const [first = 0, second = 0] = rounds;
  expect(first).toBeLessThanOrEqual(60);
  expect(rounds).toEqual([first, 60 - first, 0]);
  expect(terminated).toEqual([first, first + second, 60]);
  expect(created).toBe(80);
});

test("two hundred nodes ask to stop at once, through four host processes, when 50 are needed: never more than 150 go, and exactly 150 within two rounds", async () => {
  const { rounds, terminated, created } = await stopThroughHosts({ hosts: 4, nodes: 200, needed: 50 });
  const [first = 0, second = 0] = rounds;
  expect(first).toBeLessThanOrEqual(150);
  expect(rounds).toEqual([first, 150 - first, 0]);
  expect(terminated).toEqual([first, first + second, 150]);
  expect(created).toBe(200);
});
