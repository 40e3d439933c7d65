import { expect, test } from "vitest";
import { printedFiles } from "./printed.ts";
import type { Stage } from "./pbs-stage.ts";
import { setStage } from "./pbs-stage.ts";

const PAGE = "docs/pbs.md";

/** A node that has been idle for longer than its limit, one run before it asks. */
async function idleNode(): Promise<Stage> {
  const stage = await setStage(PAGE);
  await stage.run("autostop.sh");
  stage.pass(300);
  return stage;
}

test("the page prints five files", () => {
  expect([...printedFiles(PAGE).keys()]).toEqual([
    "autoscaler.curl",
    "autoscaler.env",
    "autostart.sh",
    "pbs-jobs.awk",
    "autostop.sh",
  ]);
});

test("autostop: an idle node is closed, asks once, and stays closed when it will be stopped", async () => {
  const stage = await setStage(PAGE);
  await stage.run("autostop.sh");
  expect(stage.seen).toEqual([]);
  stage.pass(299);
  await stage.run("autostop.sh");
  expect(stage.seen).toEqual([]);
  stage.pass(1);
  await stage.run("autostop.sh");
  expect(stage.seen.map(({ url }) => url)).toEqual(["/autostop?instance=vm-1"]);
  expect(stage.has("offline")).toBe(true);
});

test("autostop: a node that is still up after its stop was granted asks again, and only 409 opens it", async () => {
  const stage = await idleNode();
  await stage.run("autostop.sh");
  stage.answer({ status: 503 });
  stage.pass(600);
  await stage.run("autostop.sh");
  expect(stage.has("offline")).toBe(true);
  stage.answer({ status: 409, body: '{"undrain": true}' });
  stage.pass(60);
  await stage.run("autostop.sh");
  expect(stage.has("offline")).toBe(false);
});

test("autostop: a node that is needed takes jobs again at once, and its idle time begins again", async () => {
  const stage = await idleNode();
  stage.answer({ status: 409, body: '{"title":"Needed","undrain":true}' });
  await stage.run("autostop.sh");
  expect(stage.has("offline")).toBe(false);
  stage.pass(60);
  await stage.run("autostop.sh");
  expect(stage.seen).toHaveLength(1);
});

test("autostop: 409 with undrain false keeps the node closed", async () => {
  const stage = await idleNode();
  stage.answer({ status: 409, body: '{"undrain": false}' });
  await stage.run("autostop.sh");
  expect(stage.has("offline")).toBe(true);
});

test.each([403, 404, 500, 503])(
  "autostop: %i is no verdict: asked twice, 30 s apart; open after 180 s; asked again with the idle time kept",
  async (status) => {
    const stage = await idleNode();
    stage.answer({ status });
    await stage.run("autostop.sh");
    expect(stage.seen).toHaveLength(2);
    expect(stage.has("offline")).toBe(true);
    stage.pass(120);
    await stage.run("autostop.sh");
    expect(stage.has("offline")).toBe(true);
    stage.pass(60);
    await stage.run("autostop.sh");
    expect(stage.has("offline")).toBe(false);
    expect(stage.seen).toHaveLength(2);
    stage.pass(60);
    await stage.run("autostop.sh");
    expect(stage.seen).toHaveLength(4);
  },
);

test("autostop: no connection is no verdict either", async () => {
  const stage = await idleNode();
  stage.set("url", "http://127.0.0.1:9/autostop");
  await stage.run("autostop.sh");
  expect(stage.has("offline")).toBe(true);
  stage.pass(180);
  await stage.run("autostop.sh");
  expect(stage.has("offline")).toBe(false);
});

test("autostop: a busy node does not ask, and a job ends its idle time", async () => {
  const stage = await idleNode();
  stage.set("jobs", "17.scheduler/0\n");
  await stage.run("autostop.sh");
  stage.set("jobs", undefined);
  stage.pass(60);
  await stage.run("autostop.sh");
  stage.pass(240);
  await stage.run("autostop.sh");
  expect(stage.seen).toEqual([]);
});

test("autostop: a scheduler that does not answer counts as busy", async () => {
  const stage = await idleNode();
  stage.set("pbs_away", "");
  await stage.run("autostop.sh");
  expect(stage.seen).toEqual([]);
  expect(stage.has("offline")).toBe(false);
});

test("autostop: a job that starts before the node is closed keeps it open", async () => {
  const stage = await idleNode();
  stage.set("job_when_closed", "18.scheduler/0\n");
  await stage.run("autostop.sh");
  expect(stage.seen).toEqual([]);
  expect(stage.has("offline")).toBe(false);
});

test("autostop: a node that an administrator closed is left alone", async () => {
  const stage = await idleNode();
  stage.set("offline", "");
  await stage.run("autostop.sh");
  stage.pass(600);
  await stage.run("autostop.sh");
  expect(stage.seen).toEqual([]);
  expect(stage.has("offline")).toBe(true);
});

test("autostop: a node whose template switches autostop off does not ask", async () => {
  const stage = await idleNode();
  stage.set("stop_enabled", "False\n");
  await stage.run("autostop.sh");
  expect(stage.seen).toEqual([]);
});
