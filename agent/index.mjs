import agent from "./src/index.js";

export const { startTrafficMock } = agent;
export default agent;
