import { QueueClient, QueueSASPermissions } from "@azure/storage-queue";
import { execFile } from "node:child_process";
import { chmodSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { answeringServer } from "../support/answering-server.ts";
import type { LocalApp } from "../support/local-app.ts";
import { startLocalApp } from "../support/local-app.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { ROOT } from "../support/run-main.ts";
import { folderWith, PYTHON_FOLDER, runPython } from "./run-python.ts";

/** The calls of the public documentation of jetpack.autoscale, and what each then asks for. */
const DOCUMENTED: readonly { readonly name: string; readonly script: string; readonly asked: object }[] = [
  {
    name: "set",
    script: "jetpack.autoscale.set(name='execute', corecount=128)",
    asked: { execute: 128 },
  },
  {
    name: "update with a list of one",
    script: "array = {'Name': 'execute', 'TargetCoreCount': 128}\njetpack.autoscale.update([array])",
    asked: { execute: 128 },
  },
  {
    name: "a machine type and a configuration",
    script: `array = {'Name': 'execute', 'TargetCoreCount': 128, 'MachineType': "Standard_D4v3", 'Configuration': {'custom_setting': 123}}
jetpack.autoscale.update([array])`,
    asked: { execute: 128 },
  },
  {
    name: "a dynamic array",
    script: `execute = {'Name': 'execute', 'TargetCoreCount': 128}
dynamic = {'Name': 'dynamic_array', 'Extends': 'execute', 'TargetCount': 3, 'Configuration': {'application_version': '1.2.3'}, 'Dynamic': True}
jetpack.autoscale.update([execute, dynamic])`,
    asked: { dynamic_array: 3, execute: 128 },
  },
  {
    name: "groups by cores",
    script: `array = {'Name': 'execute', 'TargetGroupCount': 4, 'GroupCoreCount': 64, 'MachineType': "Standard_D4v3"}
jetpack.autoscale.update([array])`,
    asked: { "execute:64": 4 },
  },
  {
    name: "groups by instances",
    script: `array = {'Name': 'execute', 'TargetGroupCount': 4, 'GroupInstanceCount': 16, 'MachineType': "Standard_D4v3"}
jetpack.autoscale.update([array])`,
    asked: { "execute:16n": 4 },
  },
  {
    name: "jobs of ten minutes, of which five share four cores, and a grouped one",
    script: `jobs = [{'name': str(n), 'nodearray': 'execute', 'request_cpus': 4, 'average_runtime': 10} for n in range(5)]
jobs.append({'name': 'mpi', 'nodearray': 'execute', 'request_cpus': 64, 'grouped': True})
jetpack.autoscale.scale_by_jobs(jobs, [{'Name': 'execute', 'MachineType': 'Standard_D4v3'}])`,
    asked: { execute: 4, "execute:64": 1 },
  },
  {
    name: "jobs without a run time, in two arrays",
    script: `jobs = [{'name': '1', 'nodearray': 'execute', 'request_cpus': 3}, {'name': '2', 'nodearray': 'execute'}, {'nodearray': 'other', 'request_cpus': 2, 'average_runtime': 90}]
jetpack.autoscale.scale_by_jobs(jobs)`,
    asked: { execute: 4, other: 2 },
  },
  { name: "no jobs", script: "jetpack.autoscale.scale_by_jobs([])", asked: {} },
  {
    name: "one array without a list",
    script: "jetpack.autoscale.update({'Name': 'other', 'TargetCount': 2})",
    asked: { other: 2 },
  },
];

/** What the sender's file does under this Python, against the local host. */
export function sendingSuite(python: string): void {
  let app: LocalApp;
  let env: Readonly<Record<string, string>>;

  beforeAll(async () => {
    app = await startLocalApp({
      clusters: ["prod"],
      // Demand of five minutes outlasts a slow start of Python.
      speed: 5,
      simulator: {
        machineTypes: { Standard_D4v3: { vcpuCount: 4, memory: 16, family: "standardDv3Family" } },
        clusters: [
          {
            name: "prod",
            arrays: ["execute", "other"].map((name) => ({
              name,
              region: "westeurope",
              maxCount: 100,
              machineTypes: ["Standard_D4v3"],
            })),
          },
        ],
      },
    });
    env = { AUTOSCALER_URL: app.host.url, AUTOSCALER_KEY: app.host.keys.host, AUTOSCALER_CLUSTER: "prod" };
  });
  afterAll(() => app.close());

  const script = (text: string, more: Readonly<Record<string, string>> = {}) =>
    runPython(python, ["-c", `import jetpack.autoscale\n${text}`], { ...env, ...more });
  const command = (words: readonly string[], more: Readonly<Record<string, string>> = {}) =>
    runPython(python, [join(PYTHON_FOLDER, "cyclecloud_autoscaler.py"), ...words], { ...env, ...more });

  /** By target, what a request set asks for once a plan has seen it. */
  async function asked(set: string): Promise<Readonly<Record<string, number>>> {
    const read = async () =>
      setState.parse((await app.call("GET", `/api/clusters/prod/request-sets/${set}`)).body);
    await expect.poll(async () => (await read()).observed, PATIENT).toBe(true);
    const { outcomes } = await read();
    return Object.fromEntries(outcomes.map(({ id, asked: count }) => [id.replace("nodearray:", ""), count]));
  }

  describe("the documented calls", () => {
    test.each(DOCUMENTED)("$name", async ({ script: text, asked: wanted }) => {
      await app.call("DELETE", "/api/clusters/prod/request-sets/standard");
      expect(await script(text)).toEqual({ code: 0, stdout: "", stderr: "" });
      expect(await asked("standard")).toEqual(wanted);
    });

    test("an interval and a request set of its own; a later set of another array takes nothing back, an update does", async () => {
      const more = "request_set='lab', expiration_interval=1800";
      await script(`jetpack.autoscale.set(name='execute', instancecount=2, ${more})`);
      await script(`jetpack.autoscale.set(name='other', instancecount=3, ${more})`);
      expect(await asked("lab")).toEqual({ execute: 2, other: 3 });
      await script(`jetpack.autoscale.update([{'Name': 'other', 'TargetCount': 1}], ${more})`);
      expect(await asked("lab")).toEqual({ other: 1 });
      const { code, stdout } = await command(["remove", "--request-set", "lab"]);
      expect({ code, stdout }).toEqual({
        code: 0,
        stdout: expect.stringContaining("accepted: request set lab"),
      });
      const { body } = await app.call("GET", "/api/clusters/prod/request-sets/lab");
      expect(body).toMatchObject({ state: "lapsed", demands: 0 });
    });

    test("the command", async () => {
      const { code, stdout } = await command(["set", "--name=execute", "--corecount=8"]);
      expect({ code, stdout }).toEqual({
        code: 0,
        stdout: expect.stringMatching(/^accepted: request set standard, valid until 20\S+Z\n$/),
      });
      const folder = folderWith({ "list.json": '[{"Name":"other","TargetCount":5}]' });
      await command(["update", "--file", join(folder, "list.json"), "--request-set", "file"]);
      expect(await asked("file")).toEqual({ other: 5 });
      const read = await command(["outcomes", "--request-set", "file"]);
      expect(JSON.parse(read.stdout)).toMatchObject({
        state: "live",
        outcomes: [{ id: "nodearray:other", asked: 5, placed: 5 }],
      });
    });
  });

  describe("jobs", () => {
    test("the builders make a message that the app reads, and a job that it cannot read is told", async () => {
      const folder = folderWith({
        "send.py": `from cyclecloud_autoscaler import *
accepted = push("pbs", jobs=[
    job("41", needs(ncpus=2, mem=memory("4g")), node(vm_size=["Standard_F16", "Standard_D*"]), iterations=3),
    job("42", any_of(node(spot=True), node(spot=False)), is_not(node(gpu_count=1)), EXCLUSIVE, node_count=2, user="anna"),
    job("43", needs(ncpus=1), iterations="three"),
], schedulerNodes=[host("ip-0A000404", jobs=[41], state="open")])
print([left["name"] for left in accepted["rejectedJobs"]])`,
      });
      const ran = await runPython(python, [join(folder, "send.py")], env);
      expect(ran).toEqual({ code: 0, stdout: "['43']\n", stderr: "" });
      expect(await asked("pbs")).toEqual({ "41": 3, "42": 2 });
    });

    test("push of the command: jobs that are left out make the exit code 1", async () => {
      const folder = folderWith({ "jobs.json": '{"jobs":[{"name":"7","iterations":"three"}]}' });
      expect(await command(["push", "--file", join(folder, "jobs.json"), "--request-set", "left"])).toEqual({
        code: 1,
        stdout: expect.stringContaining("accepted: request set left"),
        stderr:
          "job 7 is left out: jobs[0].iterations: found text of 5 characters, expected a whole number, 1 or more\n",
      });
    });
  });

  describe("docs/python.md", () => {
    const page = readFileSync(`${ROOT}docs/python.md`, "utf8");
    const blocks = [...page.matchAll(/^```python\n(.*?)^```$/gms)].map(([, text = ""]) => text);
    const [, lines = ""] = /^```sh\n(.*?)^```$/ms.exec(page) ?? [];

    test.each(blocks.map((text, index) => ({ index: index + 1, text })))(
      "program $index",
      async ({ text }) => {
        expect(await runPython(python, ["-c", text], env)).toEqual({ code: 0, stdout: "", stderr: "" });
      },
    );

    test("the command lines", async () => {
      expect(blocks).toHaveLength(4);
      const folder = folderWith({
        "bin/python3": `#!/bin/sh\nPATH=/usr/local/bin:/usr/bin:/bin exec ${python} "$@"\n`,
      });
      const path = `${folder}/bin:/usr/local/bin:/usr/bin:/bin`;
      const { stdout } = await promisify(execFile)("bash", ["-ec", lines], {
        cwd: PYTHON_FOLDER,
        env: { ...env, PATH: path, HOME: folder, PYTHONDONTWRITEBYTECODE: "1" },
      });
      expect(stdout.match(/^accepted: request set \w+, valid until /gm)).toHaveLength(4);
      expect(stdout).toContain('"requestSet": "pbs"');
    });
  });

  describe("what is wrong is told in a sentence, without a key", () => {
    test.each([
      {
        name: "no amount",
        words: ["set", "--name", "execute"],
        code: 2,
        told: "set: expected name, and one of corecount and instancecount\n",
      },
      {
        name: "a file that is not there",
        words: ["update", "--file", "none.json"],
        code: 2,
        told: /^none\.json: .*No such file/,
      },
      {
        name: "what the app cannot read",
        words: ["set", "--name", "execute", "--instancecount", "-1"],
        code: 1,
        told: /^400 .*nodearrays\[0\]\.TargetCount: found -1, expected a whole number, 0 or more/,
      },
      {
        name: "an unknown cluster",
        words: ["set", "--name", "execute", "--instancecount", "1"],
        env: { AUTOSCALER_CLUSTER: "none" },
        code: 1,
        told: /^404 Unknown cluster: /,
      },
      {
        name: "no address",
        words: ["set", "--name", "execute", "--instancecount", "1"],
        env: { AUTOSCALER_URL: "" },
        code: 2,
        told: /^no url: set AUTOSCALER_URL=https:\/\/NAME\.azurewebsites\.net, or write it into \/\S+json\n$/,
      },
      {
        name: "a wrong key",
        words: ["set", "--name", "execute", "--instancecount", "1"],
        env: { AUTOSCALER_KEY: "wrong-secret-key" },
        code: 1,
        told: /^401: http:\S+ does not accept the key: it must be a function key of this app/,
      },
      {
        name: "a key with a line break",
        words: ["set", "--name", "execute", "--instancecount", "1"],
        env: { AUTOSCALER_KEY: "wrong-secret-key\nx: y" },
        code: 2,
        told: /^the key has a space, a line break/,
      },
      {
        name: "the key in place of the address",
        words: ["set", "--name", "execute", "--instancecount", "1"],
        env: { AUTOSCALER_URL: "wrong-secret-key" },
        code: 2,
        told: /^the address is none: expected https:/,
      },
      {
        name: "a connection string in place of a signed address",
        words: ["set", "--name", "execute", "--instancecount", "1"],
        env: { AUTOSCALER_QUEUE: "https://a.queue.core.windows.net/demand?secret-key" },
        code: 2,
        told: /^the queue: expected a signed address/,
      },
    ])("$name", async ({ words, code, told, env: more = {} }) => {
      const ran = await command(words, more);
      expect(ran).toEqual({
        code,
        stdout: "",
        stderr: typeof told === "string" ? told : expect.stringMatching(told),
      });
      expect(ran.stderr).not.toContain("secret-key");
      expect(ran.stderr).not.toContain(app.host.keys.host);
    });

    test("in a script that does not catch it the key is not shown either", async () => {
      const ran = await script("jetpack.autoscale.set('execute', 1)", { AUTOSCALER_KEY: "wrong-secret-key" });
      expect(ran.code).toBe(1);
      expect(ran.stderr).toMatch(/AutoscalerError: 401: /);
      expect(ran.stderr).not.toContain("secret-key");
    });

    test("an app that is away: four tries, and exit code 3", async () => {
      let tries = 0;
      const server = createServer((socket) => {
        tries += 1;
        socket.destroy();
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      onTestFinished(() => void server.close());
      const address = server.address();
      const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
      const ran = await command(["set", "--name=execute", "--corecount=8"], { AUTOSCALER_URL: url });
      expect(ran).toEqual({
        code: 3,
        stdout: "",
        stderr: expect.stringMatching(
          /^paused 1 s\npaused 2 s\npaused 4 s\nno answer from http:\/\/127\.0\.0\.1:\d+ after 4 tries: /,
        ),
      });
      expect(tries).toBe(4);
    });

    test("an app that has no time: it waits as the answer says, ten seconds at most", async () => {
      const problem = JSON.stringify({ title: "Busy", status: 503, detail: "others are being read" });
      const { url, seen } = await answeringServer(503, problem, { "retry-after": "60" });
      const ran = await command(["update", "--file", "-"], { AUTOSCALER_URL: url });
      expect(ran.code).toBe(2);
      const again = await script("jetpack.autoscale.update([])", { AUTOSCALER_URL: url });
      expect(again.stderr.match(/paused 10 s/g)).toHaveLength(3);
      expect(again.stderr).toContain("NoAnswerError: 503 Busy: others are being read; after 4 tries");
      // The same message each time, so that it counts once.
      expect(new Set(seen.map(({ body }) => body)).size).toBe(1);
      expect(seen).toHaveLength(4);
    });

    test("a redirect is not followed, because the key would be sent along", async () => {
      const other = await answeringServer(200, "{}");
      const { url } = await answeringServer(307, "", { location: other.url });
      const ran = await command(["set", "--name=execute", "--corecount=8"], { AUTOSCALER_URL: url });
      expect({ code: ran.code, seen: other.seen }).toEqual({ code: 1, seen: [] });
      expect(ran.stderr).toContain("redirects; that is not followed");
    });
  });

  describe("settings", () => {
    const words = ["set", "--name=execute", "--corecount=8"];
    const none = { AUTOSCALER_URL: "", AUTOSCALER_KEY: "", AUTOSCALER_CLUSTER: "" };

    test("from a file that only its owner can read", async () => {
      const settings = { url: app.host.url, key: app.host.keys.host, cluster: "prod" };
      const folder = folderWith({ "settings.json": JSON.stringify(settings) });
      const file = join(folder, "settings.json");
      chmodSync(file, 0o640);
      expect(await command(words, { ...none, AUTOSCALER_FILE: file })).toEqual({
        code: 2,
        stdout: "",
        stderr: `${file}: others may read it; run: chmod 600 ${file}\n`,
      });
      chmodSync(file, 0o600);
      expect((await command(words, { ...none, AUTOSCALER_FILE: file })).code).toBe(0);
      const wrong = { ...none, AUTOSCALER_FILE: file, AUTOSCALER_KEY: "other" };
      expect((await command(words, wrong)).stderr).toMatch(/^401: /);
    });

    test("a reader's key of its own for outcomes", async () => {
      await command(words);
      const keys = { AUTOSCALER_KEY: "wrong", AUTOSCALER_READER_KEY: app.host.keys.host };
      expect(await command(["outcomes"], keys)).toMatchObject({ code: 0, stderr: "" });
      expect((await command(words, keys)).code).toBe(1);
    });

    test("from jetpack config, where that exists", async () => {
      const jetpack = `#!/bin/sh
case "$1 $2" in
  "config autoscaler.url") echo ${app.host.url} ;;
  "config autoscaler.key") echo ${app.host.keys.host} ;;
  "config cyclecloud.cluster.name") echo prod ;;
  *) exit 1 ;;
esac`;
      const folder = folderWith({ "bin/jetpack": jetpack });
      const ran = await command(words, { ...none, PATH: `${folder}/bin:/usr/bin:/bin` });
      expect({ code: ran.code, stderr: ran.stderr }).toEqual({ code: 0, stderr: "" });
    });
  });

  describe("by the queue", () => {
    const signed = () => {
      const queue = new QueueClient(app.azurite.connectionString, "demand");
      return queue.generateSasUrl({
        permissions: QueueSASPermissions.parse("a"),
        expiresOn: new Date(Date.now() + 3_600_000),
      });
    };

    test("a message comes, a large one packed; outcomes need an address", async () => {
      const only = { AUTOSCALER_URL: "", AUTOSCALER_KEY: "", AUTOSCALER_QUEUE: signed() };
      const jobs = Array.from({ length: 2000 }, (_, index) => ({ name: `job ${index} <&>` }));
      const folder = folderWith({ "jobs.json": JSON.stringify({ jobs }) });
      const file = join(folder, "jobs.json");
      expect(await command(["push", "--file", file, "--request-set", "queued"], only)).toEqual({
        code: 0,
        stdout: "sent to the queue: request set queued; it is read within seconds\n",
        stderr: "",
      });
      app.host.wake("demand");
      const read = async () => (await app.call("GET", "/api/clusters/prod/request-sets/queued")).body;
      await expect.poll(read, PATIENT).toMatchObject({ demands: 2000 });
      await command(["remove", "--request-set", "queued"], only);
      app.host.wake("demand");
      await expect.poll(read, PATIENT).toMatchObject({ demands: 0 });
      expect(await command(["outcomes"], only)).toEqual({
        code: 2,
        stdout: "",
        stderr:
          "the queue gives no answers: to read outcomes, set an address too: AUTOSCALER_URL=https://NAME.azurewebsites.net\n",
      });
    });

    test("a signature that is refused is told, and not shown", async () => {
      const url = new URL(signed());
      url.searchParams.set("sig", "c2VjcmV0LWtleQ==");
      const ran = await command(["set", "--name=execute", "--corecount=8"], { AUTOSCALER_QUEUE: url.href });
      expect(ran.code).toBe(1);
      expect(ran.stderr).toMatch(/answers 403 to the signed address: has it ended\? sign a new one/);
      expect(ran.stderr).not.toContain("c2VjcmV0");
    });
  });
}

const setState = z.object({
  observed: z.boolean(),
  outcomes: z.array(z.object({ id: z.string(), asked: z.number() })),
});

const PATIENT = { timeout: PATIENCE_MS };
