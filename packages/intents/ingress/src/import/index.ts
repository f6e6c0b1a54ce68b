/**
 * Reports for `spout import ingress-nginx` how Spout would serve Ingresses of ingress-nginx. Pure: it reads no cluster.
 */
export { type GatewayApiConversion, type GatewayApiObject, gatewayApiOf } from './gateway-api.ts'
export { type ReadObjects, reportOf, type UnitReport } from './report.ts'
export { reportText } from './report-text.ts'
