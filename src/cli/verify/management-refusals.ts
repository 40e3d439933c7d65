import type { Answer } from "../../client/index.ts";
import type { Verdict } from "./check.ts";
import { fails, notYet } from "./check.ts";
import { statusOf } from "./deployment.ts";

/** The meaning of a refusal by Azure's management API. */
export function judgeRefusal(answer: Answer, found: string): Verdict {
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

/** No user is signed in on this machine. */
export function noToken(error: unknown): Verdict {
  const message = (error instanceof Error ? error.message : String(error)).split("\n", 1).join("");
  return fails(
    `no token for the management API: ${message}`,
    "Sign in: az login, or give this machine an identity.",
  );
}
