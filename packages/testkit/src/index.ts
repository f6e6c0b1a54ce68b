/**
 * The lab and what tests wait and look with. Imported by tests and by the workbench (`tools/`) alone, never by the
 * product.
 */
export * from './fault-figures.ts'
export * from './lab/lab.ts'
export * from './lab/namespace-processes.ts'
export * from './lab/record.ts'
export * from './lab/run.ts'
export * from './lab/topology.ts'
export * from './lab/wait-for.ts'
export * from './lab/wall-clock.ts'
export * from './system/access.ts'
export * from './system/caller.ts'
export * from './system/direct-return.ts'
export * from './system/node-processes.ts'
export * from './system/power.ts'
export * from './system/system.ts'
export * from './system/test-system.ts'
