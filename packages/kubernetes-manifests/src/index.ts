/**
 * Generates the files in `deploy/kubernetes`: the custom resource definitions, the accounts of our programs with their
 * permissions (`rbac/`, each with its reason), and an installation in the cluster that it serves (`in-cluster/`), and
 * the rules for tenants in a provider's cluster (`management-cluster/`). `./dev golden` writes the files. In
 * production only `rules.ts` is read, by `spout doctor`.
 */
export * from './manifests.ts'
export { NAMESPACE } from './namespace.ts'
export { ACCESS } from './rbac/manifests.ts'
