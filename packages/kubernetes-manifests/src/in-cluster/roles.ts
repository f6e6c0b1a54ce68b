import type { PolicyRule } from '../rbac/roles.ts'
import { AUTHORITY } from './names.ts'

/** Permissions of the control plane in its cluster. Agents have none. */
export const CONTROL_PLANE_RULES: readonly PolicyRule[] = [
  {
    why: 'Verifies tokens of pods, with which connectors log in and agents enrol.',
    apiGroups: ['authentication.k8s.io'],
    resources: ['tokenreviews'],
    verbs: ['create'],
  },
]

/** Permissions of the control plane in its own namespace. */
export const AUTHORITY_RULES: readonly PolicyRule[] = [
  {
    why: 'Publishes its certificate authority for the other pods. It may write no other ConfigMap.',
    apiGroups: [''],
    resources: ['configmaps'],
    resourceNames: [AUTHORITY],
    verbs: ['patch'],
  },
]
