/** The rights that each program needs, for `spout doctor`, which asks the API server whether its account has them. */
export { AUTHORITY_RULES, CONTROL_PLANE_RULES } from './in-cluster/roles.ts'
export * from './rbac/roles.ts'
