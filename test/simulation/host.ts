import type { HttpResponseInit } from "@azure/functions";
import { handleAutostop } from "../../functions/autostop.ts";
import { answeringAnyone } from "../../functions/answering.ts";
import { createBackground } from "../../src/app/process/background.ts";
import { createHealthDesk } from "../../src/app/describe/describe-health.ts";
import type { Composition } from "../../src/compose.ts";
import { autostopPath } from "../../src/decide/autostop/autostop-token.ts";
import { arrayName } from "../../src/domain/ids.ts";
import type { Instance } from "./instance.ts";

const AUTOSTOP_KEYS = { current: "k1", byId: new Map([["k1", "a secret of the simulation"]]) };

/** The part of an answer that a node's script reads. */
export interface ScriptAnswer {
  readonly status: number;
  /** Undefined if the answer does not have it. */
  readonly undrain?: boolean;
  readonly stopUnderWay?: boolean;
}

/** The question "may I stop?" through the function that answers it, as one instance has it. */
export async function askInstance(
  instance: Instance,
  array: string,
  query: Readonly<Record<string, string>>,
): Promise<ScriptAnswer> {
  const { site, app, recorder, stopDesk } = instance;
  const composed: Composition = {
    app,
    recorder,
    stopDesk,
    healthDesk: createHealthDesk(app),
    background: createBackground(app.ports.log),
    autostopKeys: AUTOSTOP_KEYS,
    senderTime: (at) => at,
    defaultMode: "act",
    prepare: () => Promise.resolve(),
  };
  const path = autostopPath("", site.cluster, arrayName(array), AUTOSTOP_KEYS);
  const token = path.slice(path.lastIndexOf("/") + 1);
  const voice = { functionName: "autostop", warn: () => undefined };
  const params = { cluster: site.cluster, token };
  const answer = await answeringAnyone(voice, () =>
    handleAutostop(composed, { params, query: new URLSearchParams(query) }),
  );
  return readAnswer(answer);
}

function readAnswer({ status = 200, body, jsonBody }: HttpResponseInit): ScriptAnswer {
  const parsed: unknown = typeof body === "string" ? JSON.parse(body) : jsonBody;
  if (typeof parsed !== "object" || parsed === null) return { status };
  const isHeld = "stopUnderWay" in parsed && parsed.stopUnderWay === true;
  return {
    status,
    ...("undrain" in parsed && typeof parsed.undrain === "boolean" ? { undrain: parsed.undrain } : {}),
    ...(isHeld ? { stopUnderWay: true } : {}),
  };
}
