import type { Resources } from "../domain/resources.ts";
import type { Defaults } from "./default-resources.ts";
import { applyDefaults } from "./default-resources.ts";
import type { NodeView } from "../domain/node-view.ts";

/** What a scheduler says of one of its hosts: totals, what of them is left where it differs, and the jobs there. */
export interface HostReport {
  readonly hostname: string;
  readonly resources: Resources;
  readonly available: Resources;
  readonly jobs: readonly string[];
}

/** A node as its scheduler sees it: the report stands above what we know, name by name (scalelib-behaviour.md 13). */
export function overlayReport(view: NodeView, report: HostReport): NodeView {
  return {
    ...view,
    available: { ...view.available, ...report.resources, ...report.available },
    jobs: new Set([...view.jobs, ...report.jobs]),
  };
}

/** A host that only the scheduler knows. It gets default resources too, for what the scheduler does not say. */
export function viewHost(report: HostReport, defaults: Defaults): NodeView {
  const view: NodeView = {
    properties: {
      name: report.hostname,
      nodearray: "unknown",
      bucket_id: null,
      vm_size: "unknown",
      vm_family: "unknown",
      hostname: report.hostname,
      fqdn: report.hostname,
      hostname_or_uuid: report.hostname,
      private_ip: null,
      instance_id: null,
      location: "unknown",
      spot: false,
      vcpu_count: 1,
      pcpu_count: 1,
      gpu_count: 0,
      memory: { amount: 0, unit: "g" },
      infiniband: false,
      state: "running",
      exists: true,
      colocated: false,
      placement_group: null,
      keep_alive: false,
      create_time_unix: 0,
      last_match_time_unix: 0,
      delete_time_unix: null,
      create_time: null,
      last_match_time: null,
      delete_time: null,
      create_time_remaining: -1,
      cores_per_socket: -1,
      version: "7.9",
    },
    available: report.resources,
    nodeId: null,
    configuration: {},
    jobs: new Set(),
  };
  const { resources } = applyDefaults(defaults, view);
  return overlayReport({ ...view, available: resources }, report);
}
