import type { PolicyRule } from '../rbac/roles.ts'
import { AUTHORITY } from './names.ts'

/** What the control plane may ask of the cluster that it is in. Agents may nothing. */
export const CONTROL_PLANE_RULES: readonly PolicyRule[] = [
  {
    why: 'Whose token a pod shows: connectors log in by theirs, agents enrol by theirs.',
    apiGroups: ['authentication.k8s.io'],
    resources: ['tokenreviews'],
    verbs: ['create'],
  },
]

/** In its own namespace. */
export const AUTHORITY_RULES: readonly PolicyRule[] = [
  {
    why: 'Its certificate authority, for the other pods. It may write no other.',
    apiGroups: [''],
    resources: ['configmaps'],
    resourceNames: [AUTHORITY],
    verbs: ['patch'],
  },
]
