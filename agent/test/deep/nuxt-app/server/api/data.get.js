/* global defineEventHandler, $fetch */
export default defineEventHandler(() => $fetch("http://nowhere.test/route", { responseType: "text" }));
