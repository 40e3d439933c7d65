import { expect, test } from "vitest";
import { stopThroughHosts } from "../scenarios/stop-through-hosts.ts";

test.each([
  { hosts: 2, nodes: 80, needed: 20, spare: 60 },
  { hosts: 4, nodes: 200, needed: 50, spare: 150 },
])(
  "$nodes nodes ask to stop at once, through $hosts host processes, when $needed are needed: never more than $spare go, and exactly $spare within two rounds",
  async ({ hosts, nodes, needed, spare }) => {
    const { rounds, terminated, created } = await stopThroughHosts({ hosts, nodes, needed });
    const [first = 0, second = 0] = rounds;
    expect(first).toBeLessThanOrEqual(spare);
    expect(rounds).toEqual([first, spare - first, 0]);
    expect(terminated).toEqual([first, first + second, spare]);
    expect(created).toBe(nodes);
  },
);
