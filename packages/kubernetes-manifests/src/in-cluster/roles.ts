import type { PolicyRule } from '../rbac/roles.ts'
import { AUTHORITY } from './names.ts'

/** Rights of the control plane in its cluster. Agents have none. */
export const CONTROL_PLANE_RULES: readonly PolicyRule[] = [
  {
    why: 'Whose token a pod shows: connectors log in by theirs, agents enrol by theirs.',
    apiGroups: ['authentication.k8s.io'],
    resources: ['tokenreviews'],
    verbs: ['create'],
  },
]

/** Rights in its own namespace. */
export const AUTHORITY_RULES: readonly PolicyRule[] = [
  {
    why: 'Its certificate authority, for the other pods. It may write no other.',
    apiGroups: [''],
    resources: ['configmaps'],
    resourceNames: [AUTHORITY],
    verbs: ['patch'],
  },
]
