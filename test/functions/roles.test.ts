import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import type { Role } from "../../src/domain/roles.ts";
import { ALL_FUNCTIONS, functionsOf, ROLES } from "../../src/domain/roles.ts";
import { opens } from "../../src/local/host/host-keys.ts";
import { loadApp } from "../../src/local/host/load-app.ts";
import { createRoleKeys } from "../../src/local/role-keys.ts";
import { OPERATIONS } from "../../src/wire/api/operations.ts";

/** Azure has keys for each function, so the role of a key follows from how the functions are registered. */

const httpBinding = z.object({
  type: z.literal("httpTrigger"),
  route: z.string(),
  methods: z.array(z.string()),
  authLevel: z.enum(["function", "anonymous"]),
});

interface Registered {
  readonly name: string;
  readonly route: string;
  readonly methods: readonly string[];
  readonly authLevel: "function" | "anonymous";
}

const registered: Registered[] = [];
const names: string[] = [];

beforeAll(async () => {
  const registry = await loadApp(() => import("../../functions/main.ts"));
  names.push(...registry.functions.keys());
  for (const { metadata } of registry.functions.values())
    for (const one of Object.values(metadata.bindings)) {
      const { data } = httpBinding.safeParse(one);
      if (data !== undefined) registered.push({ name: metadata.name, ...data });
    }
});

/** The functions of a role without those that it has from others. */
const ownOf = (role: Role) =>
  functionsOf(role).filter(
    (name) => !ROLES.some((one) => one !== "operator" && one !== role && functionsOf(one).includes(name)),
  );

const methodsOf = (role: Role) =>
  registered
    .filter(({ name }) => ownOf(role).includes(name))
    .flatMap(({ methods, route }) => methods.map((method) => `${method} ${route}`))
    .toSorted();

describe("the table of roles", () => {
  test("every function with a key is in exactly one role, and no other function is in any", () => {
    const withKey = registered.filter(({ authLevel }) => authLevel === "function");
    expect(ROLES.flatMap(ownOf).toSorted()).toEqual(withKey.map(({ name }) => name).toSorted());
    expect(registered.filter(({ authLevel }) => authLevel === "anonymous").map(({ name }) => name)).toEqual([
      "autostop",
      "health",
      "page",
      "page-file",
    ]);
  });

  test("the list of all functions, which verify compares with Azure's, is what the app registers", () => {
    expect(ALL_FUNCTIONS).toEqual(names.toSorted());
  });

  test("what each role adds, as routes", () => {
    expect(methodsOf("sender")).toEqual([
      "DELETE clusters/{cluster}/request-sets/{set}",
      "PUT clusters/{cluster}/request-sets/{set}",
    ]);
    expect(methodsOf("reader")).toEqual([
      "GET clusters",
      "GET clusters/{cluster}",
      "GET clusters/{cluster}/comparison",
      "GET clusters/{cluster}/config",
      "GET clusters/{cluster}/config/history",
      "GET clusters/{cluster}/explain",
      "GET clusters/{cluster}/history",
      "GET clusters/{cluster}/history/nodes",
      "GET clusters/{cluster}/request-sets/{set}",
      "GET openapi.json",
      // A dry run: it is computed, and nothing is stored.
      "POST clusters/{cluster}/plan",
    ]);
    expect(methodsOf("operator")).toEqual([
      "GET rejected-messages",
      "PATCH clusters/{cluster}/config",
      "POST clusters/{cluster}/config/rollback",
      "POST clusters/{cluster}/nodearrays/{nodearray}/end-down",
      "POST clusters/{cluster}/restored",
      "POST clusters/{cluster}/tick",
      "POST clusters/{cluster}/wake",
      "PUT clusters/{cluster}/config",
    ]);
  });

  test("no function both reads and writes", () => {
    const mixed = registered.filter(
      ({ name, methods }) => name !== "autostop" && methods.includes("GET") && methods.length > 1,
    );
    expect(mixed).toEqual([]);
  });

  test("the published description names the same role for every operation", () => {
    const described = OPERATIONS.filter(({ role }) => role !== "anyone").map(
      ({ method, path, role }) => `${role} ${method.toUpperCase()} ${path.slice(1)}`,
    );
    const told = ROLES.flatMap((role) => methodsOf(role).map((method) => `${role} ${method}`));
    expect(described.toSorted()).toEqual(told.toSorted());
  });
});

describe("keys of the local host", () => {
  const { keys, roleKeys } = createRoleKeys();
  const openedBy = (role: Role) =>
    registered
      .filter(
        ({ name, authLevel }) => authLevel === "function" && opens(keys, roleKeys[role], authLevel, name),
      )
      .map(({ name }) => name)
      .toSorted();

  test.each<{ role: Role; not: readonly string[] }>([
    { role: "sender", not: ["request-set", "config", "write-config"] },
    { role: "reader", not: ["write-request-set", "write-config", "tick", "restored", "rejected-messages"] },
    { role: "operator", not: [] },
  ])("a $role's key opens its functions and no other", ({ role, not }) => {
    const opened = openedBy(role);
    expect(opened).toEqual([...functionsOf(role)].toSorted());
    expect(opened.filter((name) => not.includes(name))).toEqual([]);
  });

  test("an operator's key opens every function with a key", () => {
    expect(openedBy("operator")).toHaveLength(19);
  });
});
