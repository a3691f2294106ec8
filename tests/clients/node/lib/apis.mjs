export const APIS = {}
