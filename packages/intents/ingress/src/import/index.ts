/** What would become of Ingresses of ingress-nginx here, for `spout import ingress-nginx`. Pure; reads no cluster. */
export { type GatewayApiConversion, type GatewayApiObject, gatewayApiOf } from './gateway-api.ts'
export { type ReadObjects, reportOf, type UnitReport } from './report.ts'
export { reportText } from './report-text.ts'
