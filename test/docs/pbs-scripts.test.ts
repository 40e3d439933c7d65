import { describe, expect, test } from "vitest";
import { printedFiles } from "./printed.ts";
import type { Stage } from "./pbs-stage.ts";
import { setStage } from "./pbs-stage.ts";

const PAGE = "docs/pbs.md";

/** A node that has been idle for longer than its limit, one run before it asks. */
async function idleNode(script: string): Promise<Stage> {
  const stage = await setStage(PAGE);
  await stage.run(script);
  stage.pass(300);
  return stage;
}

test("the page prints six files", () => {
  expect([...printedFiles(PAGE).keys()]).toEqual([
    "autoscaler.curl",
    "autoscaler.env",
    "autostart.sh",
    "pbs-jobs.awk",
    "autostop.sh",
    "bind.sh",
  ]);
});

describe.each(["autostop.sh", "cyclecloud_autostop.py"])("%s", (script) => {
  test("an idle node is closed, asks once, and stays closed when it will be stopped", async () => {
    const stage = await setStage(PAGE);
    await stage.run(script);
    expect(stage.seen).toEqual([]);
    stage.pass(299);
    await stage.run(script);
    expect(stage.seen).toEqual([]);
    stage.pass(1);
    await stage.run(script);
    // Closed at 1000300, and checked again 5 s later.
    expect(stage.seen.map(({ url }) => url)).toEqual(["/autostop?instance=vm-1&asked=1000305000"]);
    expect(stage.has("offline")).toBe(true);
  });

  test("a node that is still up after its stop was granted asks again, and only `undrain` opens it", async () => {
    const stage = await idleNode(script);
    await stage.run(script);
    stage.answer({ status: 503 });
    stage.pass(600);
    await stage.run(script);
    stage.answer({ status: 404 });
    stage.pass(60);
    await stage.run(script);
    expect(stage.has("offline")).toBe(true);
    stage.answer({ status: 409, body: '{"undrain": true}' });
    stage.pass(60);
    await stage.run(script);
    expect(stage.has("offline")).toBe(false);
    expect(stage.seen.filter(({ url }) => url.includes("begin=no"))).toEqual([]);
  });

  test("a node that was deallocated and started asks what became of its stop, begins none, and opens", async () => {
    const stage = await idleNode(script);
    await stage.run(script);
    expect(stage.has("offline")).toBe(true);
    stage.set("boot", "boot-2\n");
    stage.pass(7200);
    stage.answer({ status: 503 }, { status: 503, body: '{"undrain":true}' });
    await stage.run(script);
    expect(stage.seen.slice(1).map(({ url }) => url.includes("begin=no"))).toEqual([true, true]);
    expect(stage.has("offline")).toBe(false);
    // Its idle clock has begun again with this boot.
    await stage.run(script);
    stage.pass(299);
    await stage.run(script);
    expect(stage.seen).toHaveLength(3);
    stage.pass(1);
    await stage.run(script);
    expect(stage.seen).toHaveLength(4);
  });

  test("what an administrator had closed stays closed at another boot", async () => {
    const stage = await idleNode(script);
    stage.set("offline", "");
    stage.set("boot", "boot-2\n");
    stage.pass(7200);
    await stage.run(script);
    expect(stage.seen).toEqual([]);
    expect(stage.has("offline")).toBe(true);
  });

  test.each([409, 403, 404])(
    "%i with undrain true: the node takes jobs again at once, and its idle time begins again",
    async (status) => {
      const stage = await idleNode(script);
      stage.answer({ status, body: '{"title":"Needed","undrain":true}' });
      await stage.run(script);
      expect(stage.has("offline")).toBe(false);
      stage.pass(60);
      await stage.run(script);
      expect(stage.seen).toHaveLength(1);
    },
  );

  test("503 with undrain true: the node takes jobs again at once, and its idle time goes on", async () => {
    const stage = await idleNode(script);
    stage.answer({ status: 503, body: '{"stop":false,"undrain":true}' });
    await stage.run(script);
    expect(stage.has("offline")).toBe(false);
    stage.pass(60);
    await stage.run(script);
    expect(stage.seen).toHaveLength(2);
  });

  test.each([409, 503, 403, 404])("%i with undrain false keeps the node closed", async (status) => {
    const stage = await idleNode(script);
    stage.answer({ status, body: '{"undrain": false}' });
    await stage.run(script);
    expect(stage.has("offline")).toBe(true);
  });

  test.each([
    ["503 and undrain false", { status: 503, body: '{"undrain":false}' }],
    ["503 of something else", { status: 503 }],
    ["500", { status: 500 }],
    ["200 of something else", { status: 200, body: "<html>Sign in</html>" }],
  ])(
    "%s is no verdict: two questions for a stop 30 s apart, then questions that begin nothing; open 180 s after the last for a stop",
    async (_, answer) => {
      const stage = await idleNode(script);
      stage.answer(answer);
      await stage.run(script);
      stage.pass(60);
      await stage.run(script);
      // The first run closed the node at 1000300.
      expect(stage.seen.map(({ url }) => url)).toEqual([
        "/autostop?instance=vm-1&asked=1000305000",
        "/autostop?instance=vm-1&asked=1000335000",
        "/autostop?instance=vm-1&asked=1000395000&begin=no",
        "/autostop?instance=vm-1&asked=1000425000&begin=no",
      ]);
      expect(stage.has("offline")).toBe(true);
      stage.pass(89);
      await stage.run(script);
      expect(stage.has("offline")).toBe(true);
      stage.pass(31);
      await stage.run(script);
      expect(stage.has("offline")).toBe(false);
      // It was idle all the time, so it asks again at the next run.
      const before = stage.seen.length;
      stage.pass(60);
      await stage.run(script);
      expect(stage.seen).toHaveLength(before + 2);
    },
  );

  test.each([
    ["503 that cannot tell", { status: 503, body: '{"undrain":false}' }],
    ["502 of something else", { status: 502 }],
  ])("after an answer that named a stop under way, %s does not open it for 20 minutes", async (_, later) => {
    const stage = await idleNode(script);
    stage.answer({ status: 503, body: '{"undrain":false,"stopUnderWay":true}' }, later);
    await stage.run(script);
    // Its last question for a stop was asked 35 s after it was closed.
    stage.pass(1170);
    await stage.run(script);
    expect(stage.has("offline")).toBe(true);
    stage.pass(30);
    await stage.run(script);
    expect(stage.has("offline")).toBe(false);
  });

  test("after an answer that named a stop under way, undrain opens it", async () => {
    const stage = await idleNode(script);
    stage.answer(
      { status: 503, body: '{"undrain":false,"stopUnderWay":true}' },
      { status: 503, body: '{"undrain":true}' },
    );
    await stage.run(script);
    expect(stage.has("offline")).toBe(false);
  });

  test("a later run obeys the verdict that its question brings", async () => {
    const stage = await idleNode(script);
    stage.answer({ status: 503, body: '{"undrain":false}' });
    await stage.run(script);
    stage.pass(30);
    stage.answer({ status: 200, body: '{"stop":true}' });
    await stage.run(script);
    stage.answer({ status: 503 });
    stage.pass(600);
    await stage.run(script);
    expect(stage.has("offline")).toBe(true);
  });

  test.each([403, 404])(
    "%i of something else opens the node if no stop was asked for before, and only then",
    async (status) => {
      const first = await idleNode(script);
      first.answer({ status });
      await first.run(script);
      expect(first.seen).toHaveLength(1);
      expect(first.has("offline")).toBe(false);

      const later = await idleNode(script);
      later.answer({ status: 503, body: '{"undrain":false}' }, { status });
      await later.run(script);
      expect(later.seen).toHaveLength(2);
      expect(later.has("offline")).toBe(true);
    },
  );

  test("no connection is no verdict either", async () => {
    const stage = await idleNode(script);
    stage.set("url", "http://127.0.0.1:9/autostop");
    await stage.run(script);
    expect(stage.has("offline")).toBe(true);
    stage.pass(180);
    await stage.run(script);
    expect(stage.has("offline")).toBe(false);
  });

  test("a busy node does not ask, and a job ends its idle time", async () => {
    const stage = await idleNode(script);
    stage.set("jobs", "17.scheduler/0\n");
    await stage.run(script);
    stage.set("jobs", undefined);
    stage.pass(60);
    await stage.run(script);
    stage.pass(240);
    await stage.run(script);
    expect(stage.seen).toEqual([]);
  });

  test("a scheduler that does not answer counts as busy", async () => {
    const stage = await idleNode(script);
    stage.set("pbs_away", "");
    await stage.run(script);
    expect(stage.seen).toEqual([]);
    expect(stage.has("offline")).toBe(false);
  });

  test("a job that starts before the node is closed keeps it open", async () => {
    const stage = await idleNode(script);
    stage.set("job_when_closed", "18.scheduler/0\n");
    await stage.run(script);
    expect(stage.seen).toEqual([]);
    expect(stage.has("offline")).toBe(false);
  });

  test("a node that an administrator closed is left alone", async () => {
    const stage = await idleNode(script);
    stage.set("offline", "");
    await stage.run(script);
    stage.pass(600);
    await stage.run(script);
    expect(stage.seen).toEqual([]);
    expect(stage.has("offline")).toBe(true);
  });

  test("a node whose template switches autostop off does not ask", async () => {
    const stage = await idleNode(script);
    stage.set("stop_enabled", "False\n");
    await stage.run(script);
    expect(stage.seen).toEqual([]);
  });
});
