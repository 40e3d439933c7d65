import { describe, expect, test } from "vitest";
import { runCommand } from "./run-command.ts";
import { linesOf, openStage, problem, RESOURCE_ID } from "./verify-stage.ts";

/** `verify`: addresses, keys, who is signed in, and how long it waits. */

const AZURE = ["--resource-id", RESOURCE_ID];

describe("what stands before the app is named", () => {
  test("a private address: nothing else is tried, and the end is 3, as the network may change", async () => {
    const { verify, waited } = await openStage({});
    // No server listens at port 2 of this machine.
    const { code, out } = await verify(["--url", "http://127.0.0.1:2"]);
    expect(code).toBe(3);
    expect(linesOf(out, "address")).toMatch(
      /^FAILED +address +waited 180 s for an answer of the function app at http:\/\/127\.0\.0\.1:2\. Found: no answer from http:\/\/127\.0\.0\.1:2: connect ECONNREFUSED 127\.0\.0\.1:2 What to do: Compare --url \(AUTOSCALER_URL\) with the app's address\. If the app has no public address, run verify inside its virtual network, with a DNS server that knows its private name\./,
    );
    expect(linesOf(out, "storage")).toBe("not tried       storage    key comes first");
    expect(out.split("\n").at(-1)).toBe("0 checks passed, 1 failed (address), 9 not tried");
    expect(waited()).toBe(180);
  });

  test.each([
    {
      name: "public access is off",
      front: () => ({ status: 403, body: "<html><title>Web App - Unavailable</title></html>" }),
      says: "answers, but not as the app: HTTP 403, a web page: Web App - Unavailable What to do: Azure refuses the call before it reaches the app.",
    },
    {
      name: "the host does not run",
      front: () => ({ status: 503, body: "Function host is not running." }),
      says: "answers, but not as the app: HTTP 503: Function host is not running. What to do: The function host does not run.",
    },
    {
      name: "another server",
      front: () => ({ body: "<html>Sign in</html>" }),
      says: "HTTP 200, but the answer is not JSON: is this the address of the function app?",
    },
  ])("$name", async ({ front, says }) => {
    const { verify } = await openStage({ front });
    const { code, out } = await verify();
    expect(code).toBe(1);
    expect(linesOf(out, "address")).toContain(says);
  });

  test("the host starts after two minutes: that is waited for", async () => {
    const { verify, waited } = await openStage({
      front: (seconds) =>
        seconds < 120 ? { status: 503, body: "Function host is not running." } : undefined,
    });
    expect((await verify(AZURE)).code).toBe(0);
    expect(waited()).toBeGreaterThan(120);
  });
});

describe("keys", () => {
  test("a wrong key", async () => {
    const { verify } = await openStage({});
    const { code, out } = await verify(["--key", "wrong"]);
    expect(code).toBe(1);
    expect(linesOf(out, "no key")).toMatch(/^ok /);
    expect(linesOf(out, "key")).toContain(
      "waited 120 s for the app to accept the key. Found: the app refuses the key: HTTP 401 What to do: Compare --key (AUTOSCALER_KEY) with the keys of the app.",
    );
  });

  test("an app that lets anyone in", async () => {
    const { verify } = await openStage({ front: () => ({ body: { ok: true, clusters: [] } }) });
    const { code, out } = await verify();
    expect(code).toBe(1);
    expect(linesOf(out, "no key")).toContain(
      "Found: a call without a key was answered What to do: Everyone can read this app.",
    );
  });

  test("a reader's key: what it may not do is named, with the key that may", async () => {
    const { verify } = await openStage({
      wake: () => ({ status: 401 }),
      tick: () => ({ status: 401 }),
    });
    const { out } = await verify();
    const says =
      "This key is a reader's or a sender's. Use an operator's key or a host key: cyclecloud-autoscaler keys operator prints the commands that make one.";
    expect(linesOf(out, "queue")).toContain(says);
    expect(linesOf(out, "cyclecloud")).toContain(says);
  });

  test("without a key it is read from Azure, and shown nowhere", async () => {
    const { verifyWithoutKey, seen } = await openStage({});
    const { code, out, err } = await verifyWithoutKey(AZURE);
    expect(code).toBe(0);
    expect(linesOf(out, "host key")).toBe("ok              host key   read, because no --key is given");
    expect(out + err).not.toContain("host-key-of-the-app");
    expect(seen[0]).toBe(`POST ${RESOURCE_ID}/host/default/listkeys?api-version=2024-11-01`);
  });

  test("without a key and signed in nowhere: the other checks are shown as not tried", async () => {
    const { verifyWithoutKey } = await openStage({
      signIn: () => Promise.reject(new Error("CredentialUnavailableError: run az login")),
    });
    const { out, code } = await verifyWithoutKey(AZURE);
    expect(code).toBe(1);
    expect(linesOf(out, "host key")).toContain("What to do: Sign in: az login");
    expect(linesOf(out, "address")).toBe("not tried       address    host key comes first");
    expect(out.split("\n").at(-1)).toBe("0 checks passed, 1 failed (host key), 10 not tried");
  });

  test("neither a key nor a resource id: 2", async () => {
    const end = await runCommand(["verify", "--url", "http://127.0.0.1:2"], {}, { environment: {} });
    expect(end).toEqual({
      code: 2,
      out: "",
      err: "found neither --key (AUTOSCALER_KEY) nor --resource-id (AUTOSCALER_RESOURCE_ID), expected one",
    });
  });
});

describe("a host on this machine", () => {
  test.each([
    {
      name: "a wrong master key",
      status: 401,
      says: "Found: no list: HTTP 401 What to do: Compare --master-key (AUTOSCALER_MASTER_KEY) with the host's: npm start -- --serve prints it when it starts.",
    },
    {
      name: "an app in Azure",
      status: 404,
      says: "For an app in Azure leave --master-key out, and give --resource-id (AUTOSCALER_RESOURCE_ID).",
    },
  ])("$name", async ({ status, says }) => {
    const { verify } = await openStage({ hostList: { status } });
    const { code, out } = await verify(["--master-key", "wrong"]);
    expect(code).toBe(1);
    expect(linesOf(out, "functions")).toContain(says);
  });
});

describe("Azure's management API", () => {
  test("without a resource id the list is not applicable, and says what would make it so", async () => {
    const { verify } = await openStage({});
    const { code, out } = await verify();
    expect(code).toBe(0);
    expect(linesOf(out, "functions")).toMatch(
      /^not applicable +functions +give --resource-id \(AUTOSCALER_RESOURCE_ID\) to compare the functions that Azure lists/,
    );
    expect(out.split("\n").at(-1)).toBe("9 checks passed, 1 not applicable");
  });

  test("another app's resource id", async () => {
    const { verify } = await openStage({});
    const { code, out } = await verify(["--resource-id", RESOURCE_ID.replace("scaler", "other")]);
    expect(code).toBe(1);
    expect(linesOf(out, "functions")).toContain(
      "Found: no list: HTTP 404 What to do: Compare --resource-id (AUTOSCALER_RESOURCE_ID) with the app's",
    );
  });

  test("the list has pages; a page elsewhere is not asked for, as the token would go along", async () => {
    const { verify, seen } = await openStage({
      listed: () => ({
        body: {
          value: [{ name: "scaler/clusters" }],
          nextLink: `http://127.0.0.1:2${RESOURCE_ID}/functions?page=2`,
        },
      }),
    });
    const { out } = await verify([...AZURE, "--wait", "0"]);
    expect(linesOf(out, "functions")).toContain(
      "missing: autostop, cluster, comparison, config, config-history, demand",
    );
    expect(seen.filter((request) => request.includes("page=2"))).toEqual([]);
  });

  test.each([
    { option: "--resource-id", value: "scaler", says: "Microsoft.Web/sites/NAME" },
    { option: "--resource-id", value: `${RESOURCE_ID}/../other`, says: "Microsoft.Web/sites/NAME" },
    { option: "--management-url", value: "http://management.example", says: "Expected an https address." },
  ])("$option $value: 2", async ({ option, value, says }) => {
    const { verify, seen } = await openStage({});
    const { code, err } = await verify([option, value]);
    expect(code).toBe(2);
    expect(err).toContain(says);
    expect(seen).toEqual([]);
  });
});

describe("how long it waits", () => {
  test("--wait bounds all checks together, and each still looks once", async () => {
    const { verify, waited } = await openStage({ isTimerSilent: true, queueSeconds: undefined });
    const { code, out } = await verify(["--wait", "100"]);
    expect(code).toBe(1);
    expect(waited()).toBe(100);
    expect(linesOf(out, "timer")).toContain("waited 100 s for");
    expect(linesOf(out, "queue")).toContain("waited 0 s for");
    expect(linesOf(out, "cyclecloud")).toMatch(/^ok /);
    expect(out.split("\n").at(-1)).toBe(
      "--wait ended before the time of these checks was over, and they may hold later: timer, queue. Run verify again without --wait.",
    );
  });

  test("Ctrl-C ends the wait: what is left is not tried", async () => {
    const { verify } = await openStage({
      clusters: () => problem(503, "Cannot tell now", "busy"),
    });
    const { code, out } = await verify([], { sleep: () => Promise.resolve(false) });
    expect(code).toBe(1);
    expect(linesOf(out, "storage")).toMatch(/^FAILED /);
    expect(linesOf(out, "timer")).toBe("not tried       timer      stopped by Ctrl-C");
  });
});
