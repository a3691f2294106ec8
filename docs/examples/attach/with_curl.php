<?php
$handle = curl_init($argv[1]);
curl_setopt($handle, CURLOPT_RETURNTRANSFER, true);
$body = curl_exec($handle);
echo $body === false ? curl_error($handle) : $body, "\n";
