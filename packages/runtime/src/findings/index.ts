/** What `doctor` finds, and how it is printed: the same for an installation, a node and a control plane. */
export * from './check.ts'
export { doctorArguments } from './doctor-arguments.ts'
export * from './finding.ts'
export * from './findings-text.ts'
export * from './written-findings.ts'
