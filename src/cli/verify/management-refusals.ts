import type { Answer } from "../../client/index.ts";
import type { Verdict } from "./check.ts";
import { fails, notYet } from "./check.ts";
import { statusOf } from "./deployment.ts";

/** What it means that Azure's management API does not answer with what was asked for. */
export function judgeRefusal(answer: Answer, found: string): Verdict {
  switch (statusOf(answer)) {
    case 401:
      return fails(found, "Sign in again: az login.");
    case 403:
      return notYet(
        found,
        "Who is signed in needs the role Website Contributor on the function app, or one with its rights to read functions, to sync triggers and to list host keys. A new role can take minutes.",
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

/** What it means that a host on this machine does not list its functions. */
export function judgeHostRefusal(answer: Answer, found: string): Verdict {
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

/** Nobody is signed in on this machine. */
export function noToken(error: unknown): Verdict {
  const message = (error instanceof Error ? error.message : String(error)).split("\n", 1).join("");
  return fails(
    `no token for the management API: ${message}`,
    "Sign in: az login, or give this machine an identity.",
  );
}
