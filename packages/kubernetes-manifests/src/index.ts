/**
 * The contents of `deploy/kubernetes`, as data and as YAML: the custom resource definitions, the accounts of our
 * programs with their rights (`rbac/`, each with its reason), and an installation in the cluster that it serves
 * (`in-cluster/`). `./dev golden` writes the files. Nothing runs this in production.
 */
export * from './manifests.ts'
export { NAMESPACE } from './namespace.ts'
export { ACCESS } from './rbac/manifests.ts'
