import type { SimulatorOptions } from "./options.ts";

/**
 * A small cluster "demo" with one array of each kind: loosely coupled work, tightly coupled work in placement groups, and spot. Prices are
 * rounded list prices in USD, for illustration only.
 */
export const defaultOptions: SimulatorOptions = {
  clusters: [
    {
      name: "demo",
      maxCount: 500,
      maxCoreCount: 20_000,
      arrays: [
        {
          name: "htc",
          region: "westeurope",
          maxCount: 200,
          maxCoreCount: 1_000,
          machineTypes: ["Standard_F2s_v2", "Standard_F8s_v2"],
          configuration: { autoscale: { enabled: true } },
        },
        {
          name: "hpc",
          region: "westeurope",
          maxCount: 40,
          maxCoreCount: 4_800,
          maxPlacementGroupSize: 16,
          machineTypes: ["Standard_HB120rs_v3"],
          configuration: { autoscale: { enabled: true } },
        },
        {
          name: "lowprio",
          region: "westeurope",
          spot: true,
          maxCount: 100,
          maxCoreCount: 400,
          machineTypes: ["Standard_F2s_v2"],
          configuration: { autoscale: { enabled: true } },
        },
      ],
      headNodes: [
        { name: "scheduler", machineType: "Standard_D4s_v3", region: "westeurope", keepAlive: true },
      ],
    },
  ],
  machineTypes: {
    Standard_F2s_v2: {
      vcpuCount: 2,
      pcpuCount: 1,
      memory: 4,
      family: "standardFSv2Family",
      pricePerHour: 0.097,
    },
    Standard_F8s_v2: {
      vcpuCount: 8,
      pcpuCount: 4,
      memory: 16,
      family: "standardFSv2Family",
      pricePerHour: 0.388,
    },
    Standard_D4s_v3: {
      vcpuCount: 4,
      pcpuCount: 2,
      memory: 16,
      family: "standardDSv3Family",
      pricePerHour: 0.24,
    },
    Standard_HB120rs_v3: {
      vcpuCount: 120,
      memory: 448,
      infiniband: true,
      family: "standardHBv3Family",
      pricePerHour: 4.68,
    },
  },
  quotas: {
    regional: { westeurope: 10_000 },
    spot: { westeurope: 300 },
    family: { standardFSv2Family: 800, standardHBv3Family: 3_600, standardDSv3Family: 100 },
  },
  timings: { jitter: 0.2 },
  visibilityLagSeconds: 10,
};
