import type { Answer, FunctionList, ListedFunction, ManagementApi } from "../../client/index.ts";
import { ALL_FUNCTIONS, listHostFunctions } from "../../client/index.ts";
import type { Check, Verdict } from "./check.ts";
import { fails, holds, notApplicable, notYet } from "./check.ts";
import type { Deployment } from "./deployment.ts";
import { troubleText, statusOf } from "./deployment.ts";

/** Azure's own, shown while no function of the app is known. */
const PLACEHOLDERS = new Set(["WarmUp"]);

/**
 * Whether the platform knows the functions of this release. If not, asks it to read the triggers again: once is not always enough, so each
 * try asks.
 */
export function functionsCheck({ url, management, masterKey }: Deployment): Check {
  const isOurs = `the ${ALL_FUNCTIONS.length} functions of this release in the list`;
  if (management !== undefined)
    return {
      name: "functions",
      waitsFor: `${isOurs} of Azure's management API`,
      seconds: 900,
      everySeconds: 20,
      needs: [],
      async run() {
        try {
          const list = await management.list();
          const listed = judgeList(list, judgeRefusal, AZURE);
          if (listed.kind !== "not-yet" || list.kind === "no-list") return listed;
          const synced = await management.sync();
          return { ...listed, found: `${listed.found}; ${syncText(synced)}` };
        } catch (error) {
          return noToken(error);
        }
      },
    };
  return {
    name: "functions",
    waitsFor: `${isOurs} of the host`,
    seconds: 60,
    everySeconds: 20,
    needs: ["address"],
    async run() {
      if (masterKey === undefined) return notApplicable(UNLISTED);
      const listed = judgeList(await listHostFunctions(url, masterKey), judgeHostRefusal, HOST);
      return listed.kind === "holds" ? holds(`${listed.found}; trigger sync: not applicable`) : listed;
    },
  };
}

const UNLISTED =
  "give --resource-id (AUTOSCALER_RESOURCE_ID) to compare the functions that Azure lists; for a host on this machine --master-key (AUTOSCALER_MASTER_KEY)";
const AZURE =
  "Look for an error at the start of the app in its log: an app that does not load registers nothing. Compare the deployed package with this release. If the log shows no error, restart the app and run verify again.";
const HOST =
  "The host runs another release, or an app that did not load completely: see its log, and start it again.";

function judgeList(list: FunctionList, refusal: typeof judgeRefusal, whatToDo: string): Verdict {
  if (list.kind === "no-list") return refusal(list.answer, `no list: ${troubleText(list.answer)}`);
  const names = new Set(list.functions.map(({ name }) => name));
  const missing = ALL_FUNCTIONS.filter((name) => !names.has(name));
  const ours = new Set(ALL_FUNCTIONS);
  const extra = [...names].filter((name) => !ours.has(name) && !PLACEHOLDERS.has(name));
  const disabled = list.functions.filter((one) => one.isDisabled && ours.has(one.name)).map(nameOf);
  if (missing.length > 0 || extra.length > 0)
    return notYet(
      [
        ...(missing.length === 0 ? [] : [`missing: ${missing.join(", ")}`]),
        ...(extra.length === 0 ? [] : [`not of this release: ${extra.join(", ")}`]),
      ].join("; "),
      whatToDo,
    );
  if (disabled.length > 0)
    return fails(
      `disabled: ${disabled.join(", ")}`,
      `Remove from the app settings, or set to false: ${disabled.map((name) => `AzureWebJobs.${name}.Disabled`).join(", ")}.`,
    );
  return holds(`${ALL_FUNCTIONS.length} functions, each of them enabled`);
}

const nameOf = ({ name }: ListedFunction): string => name;

function syncText(answer: Answer): string {
  // A sync answers without a body.
  if (answer.kind === "answered" || answer.kind === "not-json")
    return "asked Azure to read the triggers again";
  return `trigger sync failed: ${troubleText(answer)}`;
}

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

/** The meaning of a refusal by Azure's management API. */
function judgeRefusal(answer: Answer, found: string): Verdict {
  switch (statusOf(answer)) {
    case 401:
      return fails(found, "Sign in again: az login.");
    case 403:
      return notYet(
        found,
        "The signed-in identity needs the role Website Contributor on the function app, or a role with the rights to read functions, to sync triggers and to list host keys. A new role can take minutes.",
      );
    case 404:
      return fails(
        found,
        "Compare --resource-id (AUTOSCALER_RESOURCE_ID) with the app's: az functionapp show --name APP --resource-group GROUP --query id",
      );
    default:
      return notYet(found, "Try again; this machine must reach the management API.");
  }
}

/** The meaning of a refusal by a host on this machine to list its functions. */
function judgeHostRefusal(answer: Answer, found: string): Verdict {
  switch (statusOf(answer)) {
    case 401:
    case 403:
      return fails(
        found,
        "Compare --master-key (AUTOSCALER_MASTER_KEY) with the host's: npm start -- --serve prints it when it starts.",
      );
    case 404:
      return fails(
        found,
        "Only a host on this machine lists its functions at its own address. For an app in Azure leave --master-key out, and give --resource-id (AUTOSCALER_RESOURCE_ID).",
      );
    default:
      return notYet(found, "See the log of the host, and start it again.");
  }
}

/** No user is signed in on this machine. */
function noToken(error: unknown): Verdict {
  const message = (error instanceof Error ? error.message : String(error)).split("\n", 1).join("");
  return fails(
    `no token for the management API: ${message}`,
    "Sign in: az login, or give this machine an identity.",
  );
}
