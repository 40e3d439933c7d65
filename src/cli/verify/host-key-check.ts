import type { ManagementApi } from "../../client/index.ts";
import type { Check, Verdict } from "./check.ts";
import { fails, holds } from "./check.ts";
import { troubleText } from "./deployment.ts";
import { judgeRefusal, noToken } from "./management-refusals.ts";

/** Asks Azure for the app's host key, so that users need not copy it. `keep` receives it. It is never shown. */
export function hostKeyCheck(management: ManagementApi, keep: (key: string) => void): Check {
  return {
    name: "host key",
    waitsFor: "the app's host key from Azure's management API",
    seconds: 300,
    everySeconds: 20,
    needs: [],
    async run(): Promise<Verdict> {
      try {
        const asked = await management.hostKey();
        if (asked.kind === "key") {
          keep(asked.key);
          return holds("read, because no --key is given");
        }
        if (asked.answer.kind === "answered")
          return fails("the app has no host key", "Give an operator's key with --key (AUTOSCALER_KEY).");
        return judgeRefusal(asked.answer, `no key: ${troubleText(asked.answer)}`);
      } catch (error) {
        return noToken(error);
      }
    },
  };
}
