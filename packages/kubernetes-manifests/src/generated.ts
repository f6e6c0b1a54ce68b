/** The first line of every file that this package generates, where its format has comments. */
export const GENERATED = '# Generated from packages/kubernetes-manifests by ./dev golden: do not edit.\n'
