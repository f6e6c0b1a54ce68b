import type { PolicyRule } from '../rbac/roles.ts'
import { AUTHORITY } from './names.ts'

/** Rights of the control plane in its cluster. Agents have none. */
export const CONTROL_PLANE_RULES: readonly PolicyRule[] = [
  {
    why: 'Token reviews: connectors log in and agents enrol with the tokens of their pods.',
    apiGroups: ['authentication.k8s.io'],
    resources: ['tokenreviews'],
    verbs: ['create'],
  },
]

/** Rights in its own namespace. */
export const AUTHORITY_RULES: readonly PolicyRule[] = [
  {
    why: 'Its certificate authority, for the other pods. It may write no other ConfigMap.',
    apiGroups: [''],
    resources: ['configmaps'],
    resourceNames: [AUTHORITY],
    verbs: ['patch'],
  },
]
