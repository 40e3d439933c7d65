/**
 * Supplies the module '@azure/functions-core', which in Azure is part of the language worker. '@azure/functions' loads it by `require` at
 * the first `app.*` call, and does not try again if it is missing. So {@link installCore} must run before the app is imported (platform.md
 * section 3b).
 */
import { answerRequire } from "./require-answers.ts";
import type { Seconds } from "../../domain/units.ts";

export type LogLevel = "trace" | "debug" | "information" | "warning" | "error" | "critical" | "none";

/** A value that host and worker exchange, in the form of the worker's RPC. */
export type TypedData = {
  readonly string?: string;
  readonly json?: string;
  readonly bytes?: Uint8Array;
  readonly int?: number;
  readonly double?: number;
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
  readonly cookies?: readonly RpcCookie[];
};
export type NullableText = Readonly<Record<string, { readonly value: string }>>;

/** A cookie of an answer. Properties that the app did not set are absent or undefined; then `sameSite` is "none". */
export type RpcCookie = {
  readonly name: string;
  readonly value: string;
  readonly domain?: { readonly value: string } | undefined;
  readonly path?: { readonly value: string } | undefined;
  readonly expires?: { readonly value: { readonly seconds: Seconds } } | undefined;
  readonly maxAge?: { readonly value: number } | undefined;
  readonly secure?: { readonly value: boolean } | undefined;
  readonly httpOnly?: { readonly value: boolean } | undefined;
  readonly sameSite: "none" | "lax" | "strict" | "explicitNone";
};

/** One binding of a function: its type, its direction, and the members of its type. */
export type Binding = {
  readonly type: string;
  readonly direction?: string;
  readonly [option: string]: unknown;
};

export type FunctionMetadata = {
  readonly name: string;
  readonly functionId?: string;
  readonly bindings: Readonly<Record<string, Binding>>;
  readonly retryOptions?: unknown;
};

export type Callback = (...args: readonly unknown[]) => unknown;
export type RegisteredFunction = { readonly metadata: FunctionMetadata; readonly callback: Callback };

/** The model's input for one invocation. `state` is its progress, by which the model detects logging after the end. */
export type InvocationRequest = {
  readonly invocationId: string;
  readonly metadata: FunctionMetadata;
  state: "preInvocationHooks" | "invocation" | "postInvocationHooks" | undefined;
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

export type InvocationResponse = {
  readonly returnValue?: TypedData | null;
  readonly outputData?: readonly { readonly name: string; readonly data: TypedData }[];
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
  getCapabilities(known: Record<string, string>): Promise<Readonly<Record<string, string>>>;
};

const hookNames = ["appStart", "appTerminate", "preInvocation", "postInvocation", "log"] as const;
type HookName = (typeof hookNames)[number];

/** The functions that the app registered. Registrations are global to the process, so there is one app per process. */
export type Registry = {
  readonly functions: Map<string, RegisteredFunction>;
  readonly hooks: Readonly<Record<HookName, Callback[]>>;
  readonly appHookData: Record<string, unknown>;
  /** Hook data shared by appStart and appTerminate. */
  readonly lifecycleHookData: Record<string, unknown>;
  readonly listeners: Set<(level: LogLevel, category: string, message: string) => void>;
  model: ProgrammingModel | undefined;
  /** True after a host has started. Then nothing can be registered. */
  locked: boolean;
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
  const registry: Registry = {
    functions: new Map(),
    hooks: { appStart: [], appTerminate: [], preInvocation: [], postInvocation: [], log: [] },
    appHookData: {},
    lifecycleHookData: {},
    listeners: new Set(),
    model: undefined,
    locked: false,
  };
  holder[slot] = registry;
  answerRequire("@azure/functions-core", coreModule(registry));
  return registry;
}

function coreModule(registry: Registry): object {
  return {
    version: "3.14.1",
    hostVersion: "4.1052.200",
    Disposable,
    setProgrammingModel: (model: ProgrammingModel) => {
      registry.model = model;
    },
    getProgrammingModel: () => registry.model,
    registerFunction: (metadata: FunctionMetadata, callback: Callback) =>
      registerFunction(registry, metadata, callback),
    registerHook: (name: string, callback: Callback) => registerHook(registry, name, callback),
    log: (level: LogLevel, category: string, message: string) => {
      for (const listen of registry.listeners) listen(level, category, message);
    },
  };
}

function registerFunction(registry: Registry, metadata: FunctionMetadata, callback: Callback): Disposable {
  const id = metadata.functionId ?? metadata.name;
  if (registry.locked)
    throw systemError(new Error(`"${id}" cannot be registered: the app has already started`));
  if (registry.functions.has(id)) throw systemError(new Error(`two functions are called "${id}"`));
  registry.functions.set(id, { metadata, callback });
  return new Disposable(() => registry.functions.delete(id));
}

function registerHook(registry: Registry, name: string, callback: Callback): Disposable {
  const known = hookNames.find((hook) => hook === name);
  // '@azure/functions' distinguishes an old host from a real mistake by this type and flag.
  if (known === undefined) throw systemError(new RangeError(`unknown hook "${name}"`));
  const list = registry.hooks[known];
  list.push(callback);
  return new Disposable(() => list.splice(list.indexOf(callback), 1));
}

function systemError<E extends Error>(error: E): E & { isAzureFunctionsSystemError: true } {
  return Object.assign(error, { isAzureFunctionsSystemError: true as const });
}

class Disposable {
  readonly #onDispose: () => unknown;
  constructor(onDispose: () => unknown) {
    this.#onDispose = onDispose;
  }
  static from(...parts: readonly { dispose(): unknown }[]): Disposable {
    return new Disposable(() => parts.forEach((part) => part.dispose()));
  }
  dispose(): unknown {
    return this.#onDispose();
  }
}
