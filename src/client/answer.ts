import type { Problem } from "./answers.ts";
import type { Role } from "../domain/roles.ts";
import type { Seconds } from "../domain/units.ts";

/** The result of a request. `T` is the answer in the published schema (functions/openapi.json). */
export type Answer<T = unknown> =
  /** 2xx, with JSON. */
  | { readonly kind: "answered"; readonly status: number; readonly body: T }
  /** Any other status. `problem` is undefined if the answer is not from the app, for example from a proxy. */
  | {
      readonly kind: "refused";
      readonly status: number;
      readonly problem?: Problem;
      /** The answer as received: JSON, or text if it is not JSON. Undefined if it is empty. */
      readonly body: unknown;
      readonly retryAfterSeconds?: Seconds;
      /** The role whose key the request needs. */
      readonly role?: Role;
    }
  /** 2xx without JSON: a server other than the app answers at this address. */
  | { readonly kind: "not-json"; readonly status: number; readonly body: string; readonly message: string }
  /** 3xx: a server before the app redirects the request. Redirects are never followed, because the key would be sent along. */
  | { readonly kind: "redirected"; readonly status: number; readonly message: string }
  /** No answer: the effect may have happened. */
  | { readonly kind: "unreachable"; readonly message: string };
