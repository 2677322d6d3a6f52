"""The tables of preferences and of sign-in."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='SignInPolicy',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('publishers_need_second_factor', models.BooleanField(default=False)),
                ('changed_at', models.DateTimeField(null=True)),
                ('changed_by', models.CharField(blank=True, max_length=200)),
            ],
            options={
                'verbose_name_plural': 'sign-in policies',
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='Preferences',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('theme', models.CharField(blank=True, choices=[('', 'System'), ('light', 'Light'), ('dark', 'Dark')], max_length=8)),
                ('density', models.CharField(blank=True, choices=[('', 'Compact'), ('comfortable', 'Comfortable')], max_length=12)),
                ('time_zone', models.CharField(blank=True, max_length=64)),
                ('date_order', models.CharField(blank=True, choices=[('', '9 Mar 2026'), ('month', 'Mar 9, 2026')], db_default='', default='', max_length=8)),
                ('hours', models.CharField(blank=True, choices=[('', '14:05'), ('12', '2:05 PM')], db_default='', default='', max_length=8)),
                ('keys_off', models.BooleanField(default=False)),
                ('pinned', models.JSONField(default=list)),
                ('email', models.EmailField(blank=True, db_default='', default='', max_length=254)),
                ('overview_since', models.DateTimeField(null=True)),
                ('overview_seen_at', models.DateTimeField(null=True)),
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='preferences', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name_plural': 'preferences',
                'default_permissions': (),
                'constraints': [models.UniqueConstraint(condition=models.Q(('email', ''), _negated=True), fields=('email',), name='one_user_per_email')],
            },
        ),
        migrations.CreateModel(
            name='SignInEvent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('rule_on', 'Second factor for publishers: required'), ('rule_off', 'Second factor for publishers: optional'), ('app_added', 'Set up an authenticator app'), ('app_removed', 'Removed the authenticator app'), ('passkey_added', 'Added a passkey'), ('passkey_removed', 'Removed a passkey'), ('codes_renewed', 'Generated new recovery codes'), ('code_used', 'Used a recovery code'), ('wrong', 'Wrong password, code or passkey'), ('reset', 'Reset the second factor'), ('connected', 'Connected single sign-on'), ('disconnected', 'Disconnected single sign-on')], max_length=16)),
                ('at', models.DateTimeField()),
                ('actor_name', models.CharField(max_length=200)),
                ('username', models.CharField(blank=True, max_length=200)),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-at', '-pk'],
                'default_permissions': (),
                'indexes': [models.Index(fields=['user', 'kind', '-at'], name='sign_in_events_of_user')],
            },
        ),
    ]
