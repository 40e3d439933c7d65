/**
 * Supplies the module '@azure/functions-core', which in Azure is part of the language worker. '@azure/functions' loads it by `require` at
 * the first `app.*` call, and does not try again if it is missing. So {@link installCore} must run before the app is imported (platform.md
 * section 3b).
 */
import { answerRequire } from "./require-answers.ts";

export type LogLevel = "trace" | "debug" | "information" | "warning" | "error" | "critical" | "none";

/** A value that host and worker exchange, in the form of the worker's RPC. */
export type TypedData = {
  readonly string?: string;
  readonly json?: string;
  readonly bytes?: Uint8Array;
  readonly http?: RpcHttp;
};

/** An HTTP request or answer in the worker's RPC. Requests use the nullable maps, answers use `headers`. */
export type RpcHttp = {
  readonly method?: string;
  readonly url?: string;
  readonly nullableHeaders?: NullableText;
  readonly nullableQuery?: NullableText;
  readonly nullableParams?: NullableText;
  readonly body?: TypedData;
  readonly statusCode?: string;
  readonly headers?: Readonly<Record<string, string>>;
};
export type NullableText = Readonly<Record<string, { readonly value: string }>>;

/** One binding of a function: its type, its direction, and the members of its type. */
export type Binding = {
  readonly type: string;
  readonly direction?: string;
  readonly [option: string]: unknown;
};

export type FunctionMetadata = {
  readonly name: string;
  readonly bindings: Readonly<Record<string, Binding>>;
  readonly retryOptions?: unknown;
};

type Callback = (...args: readonly unknown[]) => unknown;
export type RegisteredFunction = { readonly metadata: FunctionMetadata; readonly callback: Callback };

/** The model's input for one invocation. `state` is its progress, by which the model detects logging after the end. */
export type InvocationRequest = {
  readonly invocationId: string;
  readonly metadata: FunctionMetadata;
  state: "invocation" | undefined;
  readonly request: {
    readonly invocationId: string;
    readonly functionId: string;
    readonly inputData: readonly { readonly name: string; readonly data: TypedData }[];
    readonly triggerMetadata: Readonly<Record<string, TypedData>>;
    readonly traceContext: {
      readonly traceParent: string;
      readonly traceState: string;
      readonly attributes: object;
    };
  };
  log(level: LogLevel, category: string, message: string): void;
};

type InvocationResponse = {
  readonly returnValue?: TypedData | null;
};

/** The programming model that '@azure/functions' registers. It calls callbacks and reads their results. */
type ProgrammingModel = {
  readonly name: string;
  readonly version: string;
  getInvocationModel(request: InvocationRequest): {
    getArguments(): Promise<{ context: unknown; inputs: unknown[] }>;
    invokeFunction(context: unknown, inputs: readonly unknown[], callback: Callback): Promise<unknown>;
    getResponse(context: unknown, result: unknown): Promise<InvocationResponse>;
  };
};

/** The functions that the app registered. Registrations are global to the process, so there is one app per process. */
export type Registry = {
  readonly functions: Map<string, RegisteredFunction>;
  readonly listeners: Set<(level: LogLevel, category: string, message: string) => void>;
  model: ProgrammingModel | undefined;
};

/**
 * Keeps the registry if this file is evaluated again, as test runners do, because '@azure/functions' keeps the first module that it got.
 */
const slot = Symbol.for("autoscaler.local.functions-core");
const holder: typeof globalThis & { [slot]?: Registry } = globalThis;

/** Installs the module, once per process. Returns the registry that it fills. */
export function installCore(): Registry {
  const installed = holder[slot];
  if (installed !== undefined) return installed;
  const registry: Registry = { functions: new Map(), listeners: new Set(), model: undefined };
  holder[slot] = registry;
  answerRequire("@azure/functions-core", coreModule(registry));
  return registry;
}

function coreModule(registry: Registry): object {
  return {
    version: "3.14.1",
    hostVersion: "4.1052.200",
    setProgrammingModel: (model: ProgrammingModel) => {
      registry.model = model;
    },
    getProgrammingModel: () => registry.model,
    registerFunction: (metadata: FunctionMetadata, callback: Callback) => {
      const { name } = metadata;
      if (registry.functions.has(name)) throw new Error(`two functions are called "${name}"`);
      registry.functions.set(name, { metadata, callback });
    },
    log: (level: LogLevel, category: string, message: string) => {
      for (const listen of registry.listeners) listen(level, category, message);
    },
  };
}
