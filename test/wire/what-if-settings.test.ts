import { expect, test } from "vitest";
import { clusterName } from "../../src/domain/ids.ts";
import { DEFAULT_POLICY } from "../../src/domain/policy.ts";
import { readWhatIf } from "../../src/wire/what-if.ts";
import { NOW } from "../support/build-node.ts";

test.each([{ body: {} }, { body: { config: { idleTimeout: 60 } } }])(
  "a dry run of $body goes by what the app settings say of the server",
  ({ body }) => {
    const said = { callLimitSeconds: 20, lagSeconds: 5, parallelCreates: 4, insecure: ["plain http"] };
    const policy = { ...DEFAULT_POLICY, ...said };
    const context = { cluster: clusterName("prod"), policy, now: NOW };
    const read = readWhatIf(Buffer.from(JSON.stringify(body)), context);
    if (read.kind === "problems") throw new Error("refused");
    expect(read.whatIf.policy).toMatchObject(said);
  },
);
