import type { DemandMessage } from "../../wire/message/message.ts";

/** The connection from the scheduler to the autoscaler: it pushes demand, and its nodes call the URL in their configuration. */
export interface Doors {
  push(message: DemandMessage): Promise<void>;
  /** GET of the stop URL with these parameters. */
  askStop(url: string, query: StopQuery): Promise<StopReply>;
}

/** The parameters of "may I stop?" (docs/protocol.md, Questions of nodes). */
type StopQuery = Readonly<Record<"instance" | "asked", string>> & { readonly begin?: "no" };

/** The HTTP status, and the message of a refusal. */
export interface StopReply {
  readonly status: number;
  readonly undrain?: boolean;
  readonly stopUnderWay?: true;
  readonly why?: string;
}

/** The reply in an answer of the app: `undrain`, and the reason in `detail`. */
export function readReply(status: number, body: unknown): StopReply {
  const content = typeof body === "object" && body !== null ? body : {};
  return {
    status,
    ...("undrain" in content && typeof content.undrain === "boolean" ? { undrain: content.undrain } : {}),
    ...("stopUnderWay" in content && content.stopUnderWay === true ? { stopUnderWay: true } : {}),
    ...("detail" in content && typeof content.detail === "string" ? { why: content.detail } : {}),
  };
}
