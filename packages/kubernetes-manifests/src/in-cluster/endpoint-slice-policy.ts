import { SLICE_CONTROLLER } from './names.ts'
import type { KubernetesObject } from './pod.ts'

const LABEL = 'endpointslice.kubernetes.io/managed-by'
const NAME = 'spout-endpoint-slices'

const isOfController = (object: string): string =>
  `(${object} != null && has(${object}.metadata.labels) && '${LABEL}' in ${object}.metadata.labels && ${object}.metadata.labels['${LABEL}'] == '${SLICE_CONTROLLER}')`

/**
 * Only Kubernetes' own controllers may write EndpointSlices with their own name as manager. Otherwise anybody who may
 * write EndpointSlices in a namespace could put addresses of other namespaces' pods into one and so publish them.
 * Slices of other managers are not restricted.
 */
const policy: KubernetesObject = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicy',
  metadata: { name: NAME },
  spec: {
    failurePolicy: 'Fail',
    matchConstraints: {
      resourceRules: [
        {
          apiGroups: ['discovery.k8s.io'],
          apiVersions: ['v1'],
          operations: ['CREATE', 'UPDATE'],
          resources: ['endpointslices'],
          // The API server's default; with it, applying again changes nothing.
          scope: '*',
        },
      ],
    },
    matchConditions: [
      { name: 'says-it-is-of-kubernetes', expression: `${isOfController('object')} || ${isOfController('oldObject')}` },
    ],
    validations: [
      {
        expression: [
          "request.userInfo.username.startsWith('system:serviceaccount:kube-system:')",
          "request.userInfo.username == 'system:kube-controller-manager'",
          "'system:masters' in request.userInfo.groups",
        ].join(' || '),
        message: `label ${LABEL}: ${SLICE_CONTROLLER} is for Kubernetes' own controllers: name another manager`,
        reason: 'Forbidden',
      },
    ],
  },
}

const binding: KubernetesObject = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicyBinding',
  metadata: { name: NAME },
  spec: { policyName: NAME, validationActions: ['Deny'] },
}

export const ENDPOINT_SLICE_POLICY: readonly KubernetesObject[] = [policy, binding]
